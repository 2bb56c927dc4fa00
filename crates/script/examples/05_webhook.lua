-- Tells another system of each mail, after it was kept. Deliveries that must not be lost belong into [[webhook]] of the
-- configuration: this is tried once.
local http, json, logger = require("http"), require("json"), require("logger")
local URL = "http://127.0.0.1:9099/mail"

function postkeep.after.message(message)
	local body = json.encode({ mailbox = message.mailbox, id = message.id, subject = message.subject })
	local response, why = http.post(URL, {
		body = body,
		headers = { ["Content-Type"] = "application/json" },
		timeout = "5s",
	})
	if not response then
		logger.warn("nobody was told", { mailbox = message.mailbox, why = why })
	end
end
