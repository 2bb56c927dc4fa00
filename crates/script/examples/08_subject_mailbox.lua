-- "[shop-42] Order confirmed" goes to the mailbox "shop-42" and nowhere else: a test run finds its own mail.
function postkeep.before.message(message)
	local run = message.subject:match("^%[([%w%-]+)%]")
	if run then
		message.mailboxes = { run:lower() }
		message.subject = message.subject:gsub("^%[[%w%-]+%]%s*", "")
	end
end
