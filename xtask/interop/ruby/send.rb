# Ruby's Net::SMTP. It makes every end of a line CRLF and ends the last one, and so it claims.

require "json"
require "net/smtp"

job = JSON.parse(File.read(ARGV[0], encoding: "utf-8"))

def client(job)
  smtp = Net::SMTP.new(
    job["host"], job["port"],
    tls: job["transport"] == "tls",
    starttls: job["transport"] == "starttls" ? :always : false,
    tls_verify: true, tls_hostname: job["host"],
    ssl_context_params: { ca_file: job["trust"] }
  )
  smtp.read_timeout = 60
  smtp
end

job["letters"].each do |letter|
  raw = File.binread(letter["file"])
  begin
    client(job).start(helo: "localhost", user: job["user"], secret: job["secret"], authtype: job["user"] && :plain) do |smtp|
      smtp.send_message(raw, letter["from"], letter["to"])
    end
    claim = raw.gsub(/\r\n|\r|\n/n, "\r\n")
    claim << "\r\n" unless claim.end_with?("\r\n")
    File.binwrite(letter["claim"], claim)
    puts JSON.generate(sent: true)
  rescue StandardError => error
    puts JSON.generate(failed: "#{error.class}: #{error.message.strip}".encode("utf-8", "binary", invalid: :replace, undef: :replace))
  end
  $stdout.flush
end
