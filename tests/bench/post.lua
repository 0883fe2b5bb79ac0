-- SPDX-License-Identifier: ISC
-- POSTs for wrk(1): `wrk … -s post.lua URL -- once KEY` sends one key all the time, `-- many PREFIX` a new key
-- with each request, `-- none` no key. Ends with one line: requests a second, p50 and p99 in µs, requests, failures.

local threads = 0

function setup(thread)
	threads = threads + 1
	thread:set("thread_number", threads)
end

local before, after, key, counter

function init(args)
	local kind = args[1]
	local headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
	if kind ~= "none" then
		headers["Idempotency-Key"] = "@"
	end
	local request = wrk.format("POST", nil, headers, "item=tea&quantity=2")
	before, after = request:match("^(.*Idempotency%-Key: )@(.*)$")
	if before == nil then
		before, after, key = request, "", ""
	elseif kind == "once" then
		key = args[2]
	else
		before = before .. args[2] .. "-" .. thread_number .. "-"
		counter = 0
	end
end

function request()
	if key then
		return before .. key .. after
	end
	counter = counter + 1
	return before .. counter .. after
end

function done(summary, latency)
	local errors, failures = summary.errors, 0
	for _, kind in ipairs({ "connect", "read", "write", "status", "timeout" }) do
		failures = failures + errors[kind]
	end
	print(string.format("result %.1f %d %d %d %d", summary.requests * 1e6 / summary.duration,
		latency:percentile(50), latency:percentile(99), summary.requests, failures))
end
