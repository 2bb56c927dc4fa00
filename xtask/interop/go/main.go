// Go's net/smtp. Its dot writer makes LF into CRLF and ends the last line, and so it claims.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/smtp"
	"os"
	"strconv"
)

type letter struct{ File, Claim, From, To string }

type job struct {
	Host, Transport, Trust, User, Secret string
	Port                                 int
	Letters                              []letter
}

func main() {
	var work job
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, one := range work.Letters {
		told := map[string]any{"sent": true}
		if err := work.send(one); err != nil {
			told = map[string]any{"failed": err.Error()}
		}
		line, _ := json.Marshal(told)
		fmt.Println(string(line))
	}
}

func (work job) send(one letter) error {
	raw, err := os.ReadFile(one.File)
	if err != nil {
		return err
	}
	client, err := work.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	if work.User != "" {
		if err := client.Auth(smtp.PlainAuth("", work.User, work.Secret, work.Host)); err != nil {
			return err
		}
	}
	if err := client.Mail(one.From); err != nil {
		return err
	}
	if err := client.Rcpt(one.To); err != nil {
		return err
	}
	if err := write(client, raw); err != nil {
		return err
	}
	if err := os.WriteFile(one.Claim, claimed(raw), 0o600); err != nil {
		return err
	}
	return client.Quit()
}

func (work job) connect() (*smtp.Client, error) {
	pem, err := os.ReadFile(work.Trust)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	settings := &tls.Config{RootCAs: roots, ServerName: work.Host}
	address := net.JoinHostPort(work.Host, strconv.Itoa(work.Port))
	if work.Transport == "tls" {
		connection, err := tls.Dial("tcp", address, settings)
		if err != nil {
			return nil, err
		}
		return smtp.NewClient(connection, work.Host)
	}
	client, err := smtp.Dial(address)
	if err == nil && work.Transport == "starttls" {
		err = client.StartTLS(settings)
	}
	return client, err
}

func write(client *smtp.Client, raw []byte) error {
	writer, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := writer.Write(raw); err != nil {
		return err
	}
	return writer.Close()
}

func claimed(raw []byte) []byte {
	lf := bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))
	if !bytes.HasSuffix(crlf, []byte("\r\n")) {
		crlf = append(crlf, '\r', '\n')
	}
	return crlf
}
