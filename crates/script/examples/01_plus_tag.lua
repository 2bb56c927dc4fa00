-- Mail to alice+news@… goes to the mailbox "news" as well as to alice's.
function postkeep.before.message(message)
	for _, recipient in message.recipients do
		local tag = recipient:match("^[^+@]+%+([%w%-_]+)@")
		if tag then
			table.insert(message.mailboxes, tag)
		end
	end
end
