"""Python's smtplib with octets: sendmail(), which sends them as they are."""

import smtplib

from job import Job, octets, options, tell


def connect(job):
    if job.transport == "tls":
        return smtplib.SMTP_SSL(job.host, job.port, context=job.context(), timeout=60)
    client = smtplib.SMTP(job.host, job.port, timeout=60)
    if job.transport == "starttls":
        client.starttls(context=job.context())
    return client


def main():
    job = Job()
    for letter in job.letters:
        try:
            with connect(job) as client:
                if job.user:
                    client.login(job.user, job.secret)
                client.sendmail(letter["from"], [letter["to"]], octets(letter), options(letter))
            tell(sent=True)
        except (OSError, smtplib.SMTPException, UnicodeError, ValueError) as error:
            tell(failed=repr(error))


if __name__ == "__main__":
    main()
