"""Python's smtplib with a parsed message: send_message(), which writes it anew. It claims what the generator of its email
package writes, with the policy that the library takes itself."""

import email
import email.policy
import io
import smtplib
from email.generator import BytesGenerator

from job import Job, claim, octets, tell
from smtplib_raw import connect


def written(message, utf8):
    """As send_message() flattens it."""
    buffer = io.BytesIO()
    # Without a policy the generator also turns "From " at the begin of a line into ">From ".
    policy = message.policy.clone(utf8=True) if utf8 else None
    BytesGenerator(buffer, policy=policy).flatten(message, linesep="\r\n")
    data = buffer.getvalue()
    return data if data.endswith(b"\r\n") else data + b"\r\n"


def main():
    job = Job()
    for letter in job.letters:
        try:
            message = email.message_from_bytes(octets(letter), policy=email.policy.SMTP)
            # It asks for SMTPUTF8 when an address is beyond ASCII, and only then writes the header as UTF-8.
            utf8 = not (letter["from"] + letter["to"]).isascii()
            with connect(job) as client:
                if job.user:
                    client.login(job.user, job.secret)
                client.send_message(message, letter["from"], [letter["to"]])
            claim(letter, written(message, utf8))
            tell(sent=True)
        except (OSError, smtplib.SMTPException, UnicodeError, ValueError, LookupError) as error:
            tell(failed=repr(error))


if __name__ == "__main__":
    main()
