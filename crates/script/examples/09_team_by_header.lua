-- An application names the team in a header field; mail without it goes where it is addressed to.
local TEAMS = { billing = "team-billing", search = "team-search" }

function postkeep.before.message(message)
	local team = TEAMS[(message:header("X-Team") or ""):lower()]
	if team then
		message.mailboxes = { team }
		message:tag(team)
	end
end
