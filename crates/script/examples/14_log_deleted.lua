-- Writes to the log who was read and thrown away: a look at what testers do.
local logger = require("logger")

function postkeep.after.delete(message)
	logger.info("deleted", { mailbox = message.mailbox, subject = message.subject, from = message.from })
end
