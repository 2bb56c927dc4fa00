-- Asks another system whether a recipient exists, remembers what it said for a minute, and takes the mail when it is gone.
local http, json = require("http"), require("json")
local URL = "http://127.0.0.1:9099/users"

local function exists(recipient)
	local known = postkeep.recall("user " .. recipient)
	if known then
		return known == "yes"
	end
	local response = http.get(URL, { query = "email=" .. recipient, timeout = "1s" })
	if not response or response.status_code >= 500 then
		return true
	end
	local user = json.decode(response.body)
	local found = response.status_code == 200 and user ~= nil and user.active == true
	postkeep.remember("user " .. recipient, if found then "yes" else "no", 60)
	return found
end

function postkeep.before.rcpt_to(session)
	if not exists(session.recipient) then
		return postkeep.refuse(550, "5.1.1 No such user here")
	end
end
