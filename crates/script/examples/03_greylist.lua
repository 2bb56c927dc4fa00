-- A sender that nobody has seen is told to come back; the second attempt is taken, and so is everything for a day.
-- Good to test whether an application tries again.
function postkeep.before.rcpt_to(session)
	local key = "grey " .. (session.peer or "") .. " " .. session.from .. " " .. session.recipient
	if postkeep.recall(key) then
		return
	end
	postkeep.remember(key, "seen", 24 * 60 * 60)
	return postkeep.refuse(451, "4.7.1 Greylisted, try again in a moment")
end
