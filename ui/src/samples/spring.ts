// Spring Boot: properties, and an application that sends once.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

export function spring({ host, port, tls, auth, from, to }: Target): Sample {
  const properties = lines(
    `spring.mail.host=${host}`,
    `spring.mail.port=${port}`,
    tls === 'starttls' && 'spring.mail.properties.mail.smtp.starttls.enable=true',
    tls === 'implicit' && 'spring.mail.properties.mail.smtp.ssl.enable=true',
    tls !== 'none' && 'spring.mail.properties.mail.smtp.ssl.trust=*',
    auth === 'required' && 'spring.mail.properties.mail.smtp.auth=true',
    auth === 'required' && `spring.mail.username=${USER}`,
    auth === 'required' && `spring.mail.password=${PASSWORD}`,
  )
  const program = lines(
    'package hello;',
    '',
    'import org.springframework.boot.SpringApplication;',
    'import org.springframework.boot.autoconfigure.SpringBootApplication;',
    'import org.springframework.mail.SimpleMailMessage;',
    'import org.springframework.mail.javamail.JavaMailSender;',
    '',
    '@SpringBootApplication',
    'public class Hello {',
    '    public static void main(String[] args) {',
    '        try (var app = SpringApplication.run(Hello.class, args)) {',
    '            var mail = new SimpleMailMessage();',
    `            mail.setFrom(${quoted(from)});`,
    `            mail.setTo(${quoted(to)});`,
    `            mail.setSubject(${quoted(SUBJECT)});`,
    `            mail.setText(${quoted(BODY)});`,
    '            app.getBean(JavaMailSender.class).send(mail);',
    '        }',
    '    }',
    '}',
  )
  return {
    label: 'Spring',
    install: 'org.springframework.boot:spring-boot-starter-mail',
    blocks: [
      { file: 'src/main/resources/application.properties', text: properties },
      { file: 'src/main/java/hello/Hello.java', text: program },
    ],
  }
}
