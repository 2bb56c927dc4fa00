"""aiosmtplib with octets. It makes every end of a line CRLF, and claims so."""

import asyncio
import re

import aiosmtplib

from job import Job, claim, octets, options, tell

LINE_END = re.compile(rb"\r\n|\r|\n")


async def send(job, letter):
    client = aiosmtplib.SMTP(
        hostname=job.host,
        port=job.port,
        use_tls=job.transport == "tls",
        start_tls=job.transport == "starttls",
        tls_context=job.context(),
        timeout=60,
    )
    async with client:
        if job.user:
            await client.login(job.user, job.secret)
        await client.sendmail(letter["from"], [letter["to"]], octets(letter), mail_options=options(letter))


async def main():
    job = Job()
    for letter in job.letters:
        try:
            await send(job, letter)
            data = LINE_END.sub(b"\r\n", octets(letter))
            claim(letter, data if data.endswith(b"\r\n") else data + b"\r\n")
            tell(sent=True)
        except (OSError, aiosmtplib.SMTPException, UnicodeError, ValueError) as error:
            tell(failed=repr(error))


asyncio.run(main())
