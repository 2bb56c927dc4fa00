-- Invoices get a tag, by which they can be searched: tag:invoice.
function postkeep.before.message(message)
	local subject = message.subject:lower()
	if subject:find("invoice", 1, true) or subject:find("rechnung", 1, true) then
		message:tag("invoice")
	end
	for _, file in message:attachments() do
		if file.type == "application/pdf" then
			message:tag("pdf")
		end
	end
end
