// Nodemailer with a raw message. What it claims comes from its own stream transport, which writes the message without
// sending it.

const fs = require("node:fs");
const nodemailer = require("nodemailer");

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const transport = nodemailer.createTransport({
  host: job.host,
  port: job.port,
  secure: job.transport === "tls",
  requireTLS: job.transport === "starttls",
  ignoreTLS: job.transport === "plain",
  tls: { ca: fs.readFileSync(job.trust), servername: job.host },
  auth: job.user ? { user: job.user, pass: job.secret } : undefined,
});
const writer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: "windows" });

async function send(letter) {
  const mail = () => ({ envelope: { from: letter.from, to: [letter.to] }, raw: fs.readFileSync(letter.file) });
  await transport.sendMail(mail());
  const written = (await writer.sendMail(mail())).message;
  const end = written.subarray(-2).toString() === "\r\n" ? "" : "\r\n";
  fs.writeFileSync(letter.claim, Buffer.concat([written, Buffer.from(end)]));
}

async function main() {
  for (const letter of job.letters) {
    try {
      await send(letter);
      console.log(JSON.stringify({ sent: true }));
    } catch (error) {
      console.log(JSON.stringify({ failed: String(error) }));
    }
  }
}

main();
