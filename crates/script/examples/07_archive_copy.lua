-- A copy of everything goes to the mailbox "archive".
function postkeep.before.message(message)
	table.insert(message.mailboxes, "archive")
end
