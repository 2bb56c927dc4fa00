-- Only some mailboxes exist; mail to any other is refused as a real server would.
local KNOWN = { alice = true, bob = true, postmaster = true }

function postkeep.before.rcpt_to(session)
	local name = session.recipient:match("^([^+@]+)")
	if name and KNOWN[name:lower()] then
		return postkeep.accept()
	end
	return postkeep.refuse(550, "5.1.1 No such user here")
end
