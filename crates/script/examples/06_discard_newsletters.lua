-- Mail of lists is taken and thrown away, unless it is for somebody who collects it.
function postkeep.before.message(message)
	if not message:header("List-Unsubscribe") then
		return
	end
	for _, mailbox in message.mailboxes do
		if mailbox == "newsletters" then
			return
		end
	end
	return postkeep.discard()
end
