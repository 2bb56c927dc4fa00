// Jakarta Mail (Eclipse Angus). It parses the letter and writes it anew; what it claims is what MimeMessage.writeTo writes
// without Bcc and Content-Length, which its SMTP transport leaves out.

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.mail.Address;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.angus.mail.smtp.SMTPMessage;
import org.eclipse.angus.mail.util.CRLFOutputStream;

public class Send {
    public static void main(String[] args) throws Exception {
        JsonObject job;
        try (InputStream file = new FileInputStream(args[0])) {
            job = Json.createReader(file).readObject();
        }
        Session session = Session.getInstance(properties(job));
        for (JsonObject letter : job.getJsonArray("letters").getValuesAs(JsonObject.class)) {
            var told = Json.createObjectBuilder();
            try {
                send(session, job, letter);
                told.add("sent", true);
            } catch (Exception error) {
                told.add("failed", String.valueOf(error));
            }
            System.out.println(told.build());
        }
    }

    static Properties properties(JsonObject job) throws Exception {
        Properties properties = new Properties();
        String transport = job.getString("transport");
        properties.put("mail.smtp.host", job.getString("host"));
        properties.put("mail.smtp.port", String.valueOf(job.getInt("port")));
        properties.put("mail.smtp.starttls.enable", String.valueOf(transport.equals("starttls")));
        properties.put("mail.smtp.starttls.required", String.valueOf(transport.equals("starttls")));
        properties.put("mail.smtp.ssl.enable", String.valueOf(transport.equals("tls")));
        properties.put("mail.smtp.ssl.checkserveridentity", "true");
        properties.put("mail.smtp.ssl.socketFactory", context(job.getString("trust")).getSocketFactory());
        properties.put("mail.smtp.auth", String.valueOf(!job.isNull("user")));
        properties.put("mail.smtp.timeout", "60000");
        properties.put("mail.mime.allowutf8", "true");
        return properties;
    }

    static SSLContext context(String trust) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (InputStream file = new FileInputStream(trust)) {
            store.setCertificateEntry("postkeep", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    static void send(Session session, JsonObject job, JsonObject letter) throws Exception {
        byte[] raw = Files.readAllBytes(Path.of(letter.getString("file")));
        SMTPMessage message = new SMTPMessage(session, new ByteArrayInputStream(raw));
        message.setEnvelopeFrom(letter.getString("from"));
        try (Transport transport = session.getTransport("smtp")) {
            if (job.isNull("user")) {
                transport.connect();
            } else {
                transport.connect(job.getString("user"), job.getString("secret"));
            }
            transport.sendMessage(message, new Address[] {new InternetAddress(letter.getString("to"))});
        }
        try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(Path.of(letter.getString("claim"))))) {
            Lines lines = new Lines(file);
            message.writeTo(lines, new String[] {"Bcc", "Content-Length"});
            lines.end();
        }
    }

    /** Ends of lines as the transport makes them. */
    static class Lines extends CRLFOutputStream {
        Lines(OutputStream out) {
            super(out);
        }

        void end() throws Exception {
            if (!atBOL) {
                writeln();
            }
            flush();
        }
    }
}
