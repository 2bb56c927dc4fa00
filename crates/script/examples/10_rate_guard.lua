-- Not more than 100 mails a minute from one address of the network.
local MAX, SECONDS = 100, 60

function postkeep.before.mail_from(session)
	local sent = postkeep.count("rate " .. (session.peer or "local"), SECONDS)
	if sent > MAX then
		return postkeep.refuse(451, `4.7.0 {sent} mails in a minute are too many; wait a little`)
	end
end
