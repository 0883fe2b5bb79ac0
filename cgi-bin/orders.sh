#!/bin/sh
# SPDX-License-Identifier: ISC
# Takes an order, item=NAME&quantity=NUMBER, and writes it down. Nothing here knows about retries.
set -eu

refuse() {
	printf 'Status: %s\nContent-Type: text/plain\n\n%s\n' "$1" "$2"
	exit 0
}

[ "$REQUEST_METHOD" = POST ] || refuse 405 'Send a POST.'
body=$(head -c "${CONTENT_LENGTH:-0}")
item=$(printf %s "$body" | tr '&' '\n' | sed -n 's/^item=//p')
quantity=$(printf %s "$body" | tr '&' '\n' | sed -n 's/^quantity=//p')

# Both go into a statement below, so only harmless bytes pass.
case $item in '' | *[!a-zA-Z0-9._-]*) refuse 422 'item: letters, digits, dot, underscore and hyphen.' ;; esac
case $quantity in '' | 0* | *[!0-9]* | ?????*) refuse 422 'quantity: a number from 1 to 9999.' ;; esac

id=$(mariadb --defaults-file="$SHOP_CNF" --batch --skip-column-names shop \
	-e "INSERT INTO orders (item, quantity) VALUES ('$item', $quantity) RETURNING id") ||
	refuse 500 'The order was not written down.'

printf 'Status: 201\nLocation: /orders/%s\nContent-Type: application/json\n\n' "$id"
printf '{"id":%s,"item":"%s","quantity":%s}\n' "$id" "$item" "$quantity"
