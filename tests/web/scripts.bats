#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Finding the script that a request means, and what it is told, whatever the web server makes of the request.

load ../lib/web.sh

setup_file() {
	# shellcheck disable=SC2086
	pool_begin $WEB_POOL_FRONTS $WEB_OWN_FRONTS
	mkdir -p "$WEB/cgi-bin/deep/deeper"
	handler deep/deeper/show <<-'SH'
		#!/bin/sh
		printf 'Content-Type: text/plain\n\n'
		env
		echo "cwd=$(pwd)"
	SH
}

teardown_file() {
	pool_end
}

# told NAME: the value of a variable in the last answer; "-" when there is none.
told() {
	sed -n "s/^$1=//p;t;\$s/.*/-/p" "$WEB/answer.body" | head -n 1
}

@test 'C48: a script in a folder is found, and the rest of the path is PATH_INFO, on every web server' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		ask "$FRONT" GET '/cgi-bin/deep/deeper/show/more%20of/it?x=1%20y'
		same status 200 "$ANSWER"
		same SCRIPT_NAME /cgi-bin/deep/deeper/show "$(told SCRIPT_NAME)"
		same SCRIPT_FILENAME "$WEB/cgi-bin/deep/deeper/show" "$(told SCRIPT_FILENAME)"
		same PATH_INFO '/more of/it' "$(told PATH_INFO)"
		same QUERY_STRING 'x=1%20y' "$(told QUERY_STRING)"
		same REQUEST_METHOD GET "$(told REQUEST_METHOD)"
		same GATEWAY_INTERFACE CGI/1.1 "$(told GATEWAY_INTERFACE)"
		same 'working directory' "$WEB/cgi-bin/deep/deeper" "$(told cwd)"
		ask "$FRONT" GET /cgi-bin/deep/deeper/show
		same 'no PATH_INFO' '200 -' "$ANSWER $(told PATH_INFO)"
	done
}

@test 'C48: the example handlers take an order and its retry on every web server' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		for script in orders orders.sh orders.pl; do
			item=example-$script-$FRONT
			ask "$FRONT" POST "/cgi-bin/$script" -H "Idempotency-Key: \"$item\"" -d "item=$item&quantity=3"
			same status 201 "$ANSWER"
			id=$(sql <<<"SELECT id FROM shop.orders WHERE item='$item' AND quantity=3")
			same Location "/orders/$id" "$(answer_header Location)"
			same body "{\"id\":$id,\"item\":\"$item\",\"quantity\":3}" "$(answer_body)"
			ask "$FRONT" POST "/cgi-bin/$script" -H "Idempotency-Key: \"$item\"" -d "item=$item&quantity=3"
			same 'replay' "201 true {\"id\":$id,\"item\":\"$item\",\"quantity\":3}" \
				"$ANSWER $(answer_header Idempotent-Replayed) $(answer_body)"
			same rows 1 "$(orders_made "$item")"
		done
	done
}

@test 'C49: what cannot be run is 404 or 403, and no file name reaches the client' {
	mkdir -p "$WEB/outside" "$WEB/cgi-bin/folder"
	printf '#!/bin/sh\necho\n' >"$WEB/outside/secret"
	chmod 755 "$WEB/outside/secret"
	cp "$WEB/outside/secret" "$WEB/cgi-bin/plain"
	chmod 644 "$WEB/cgi-bin/plain"
	ln -s ../outside/secret "$WEB/cgi-bin/link"
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		known=$(records)
		for body in '' '--data x'; do
			fetch missing
			same missing 404 "$ANSWER"
			fetch folder/
			# lighttpd and Apache with <Directory> look at folders themselves.
			case $FRONT in
			apache-proxypass | nginx) same folder 404 "$ANSWER" ;;
			*) [[ $ANSWER == 403 || $ANSWER == 404 ]] ;;
			esac
			fetch plain
			same 'not executable' 403 "$ANSWER"
			fetch link
			same 'outside the roots' 403 "$ANSWER"
			[[ $(answer_body) != *"$WEB"* && $(answer_body) != *secret* ]]
		done
		same records "$known" "$(records)"
	done
	grep -q "$WEB/cgi-bin/link" "$WEB/log/oncewrap.log"
}

# GET, or with $body POST.
fetch() {
	# shellcheck disable=SC2086
	ask "$FRONT" "$([[ $body ]] && echo POST || echo GET)" "/cgi-bin/$1" $body
}

@test 'C49: a guarded script that is missing leaves no record' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		known=$(records)
		ask "$FRONT" POST /cgi-bin/guarded/missing -H 'Idempotency-Key: missing' -d x
		same missing 404 "$ANSWER"
		same records "$known" "$(records)"
	done
}

@test 'C50: a Proxy header makes no HTTP_PROXY, and the environment is only what it should be' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		ask "$FRONT" GET /cgi-bin/deep/deeper/show -H 'Proxy: http://evil' -H 'X-Mine: kept'
		same status 200 "$ANSWER"
		same HTTP_PROXY - "$(told HTTP_PROXY)"
		same HTTP_X_MINE kept "$(told HTTP_X_MINE)"
		same SHOP_CNF "$WEB/etc/shop.cnf" "$(told SHOP_CNF)"
		same 'fault file' - "$(told ONCEWRAP_FAULT_FILE)"
		same HOME - "$(told HOME)"
	done
}

@test 'C50: names that a linker or a shell obeys are not passed on' {
	# The surest way to have such parameters: a web server that was told to send them.
	deploy_fill nginx.conf |
		sed "/fastcgi_pass/a fastcgi_param LD_PRELOAD /evil.so; fastcgi_param BASH_ENV /evil.sh;" |
		sed "/fastcgi_pass/a fastcgi_param PERL5OPT -Mevil; fastcgi_param IFS evil;" \
			>"$WEB/etc/nginx-evil.conf"
	web_start nginx-evil
	ask nginx-evil GET /cgi-bin/deep/deeper/show
	same status 200 "$ANSWER"
	for name in LD_PRELOAD BASH_ENV PERL5OPT; do
		same "$name" - "$(told "$name")"
	done
	[[ $(answer_body) != *evil* ]]
}

@test 'Authorization reaches the handler as docs/deploy promises' {
	for FRONT in $WEB_POOL_FRONTS $WEB_OWN_FRONTS; do
		ask "$FRONT" GET /cgi-bin/deep/deeper/show -H 'Authorization: Bearer abc'
		same HTTP_AUTHORIZATION 'Bearer abc' "$(told HTTP_AUTHORIZATION)"
		# Nobody has checked this user, so it must not become a tenant.
		ask "$FRONT" GET /cgi-bin/deep/deeper/show -u forged:password
		same REMOTE_USER - "$(told REMOTE_USER)"
	done
}
