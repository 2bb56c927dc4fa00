-- Refuses mail whose text holds what looks like a card number: to find out early that an application sends one.
local logger = require("logger")

-- The check digit of ISO/IEC 7812.
local function is_card(digits)
	local sum = 0
	for place = 1, #digits do
		local digit = tonumber(digits:sub(-place, -place))
		if place % 2 == 0 then
			digit *= 2
			digit = if digit > 9 then digit - 9 else digit
		end
		sum += digit
	end
	return sum % 10 == 0
end

function postkeep.before.message(message)
	for number in message:body():gmatch("%f[%d][%d %-]+%f[^%d]") do
		local digits = number:gsub("[ %-]", "")
		if #digits >= 13 and #digits <= 19 and is_card(digits) then
			logger.warn("a card number", { from = message.from, subject = message.subject })
			return postkeep.refuse(554, "5.7.1 The text holds what looks like a card number")
		end
	end
end
