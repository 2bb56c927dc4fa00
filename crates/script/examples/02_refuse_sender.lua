-- Some senders are refused with a text of our own; the rest is for policy to decide.
local REFUSED = {
	["spammer@example.com"] = "We asked you to stop",
	["@bulk.example"] = "Bulk mail is not taken here",
}

function postkeep.before.mail_from(session)
	local domain = session.from:match("@.*$") or ""
	local text = REFUSED[session.from:lower()] or REFUSED[domain:lower()]
	if text then
		return postkeep.refuse(550, "5.7.1 " .. text)
	end
end
