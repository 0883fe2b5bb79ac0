/* SPDX-License-Identifier: ISC */
/* Takes an order, item=NAME&quantity=NUMBER, and writes it down. Nothing here knows about retries.
 */
#include <config.h>

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODY 256

static const char name_bytes[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static int refuse(int status, const char *why)
{
	printf("Status: %d\nContent-Type: text/plain\n\n%s\n", status, why);
	return EXIT_SUCCESS;
}

/* item and quantity out of a form; both go into a statement, so only harmless bytes pass. */
static const char *read_form(char *body, const char **item, unsigned long *quantity)
{
	*item = "";
	*quantity = 0;
	for (char *field = strtok(body, "&"); field; field = strtok(NULL, "&")) {
		if (strncmp(field, "item=", 5) == 0)
			*item = field + 5;
		else if (strncmp(field, "quantity=", 9) == 0)
			*quantity = strtoul(field + 9, NULL, 10);
	}
	size_t length = strlen(*item);
	if (length == 0 || length > 64 || strspn(*item, name_bytes) != length)
		return "item: 1 to 64 letters, digits, dots, underscores and hyphens.";
	if (*quantity == 0 || *quantity > 9999)
		return "quantity: a number from 1 to 9999.";
	return NULL;
}

/* The new order's number, 0 when it could not be written. */
static unsigned long long write_order(const char *item, unsigned long quantity)
{
	unsigned long long id = 0;
	char statement[160];
	MYSQL *shop = mysql_init(NULL);
	if (!shop)
		return 0;
	mysql_optionsv(shop, MYSQL_READ_DEFAULT_FILE, getenv("SHOP_CNF"));
	mysql_optionsv(shop, MYSQL_READ_DEFAULT_GROUP, "client");
	snprintf(statement, sizeof(statement),
		 "INSERT INTO orders (item, quantity) VALUES ('%s', %lu)", item, quantity);
	if (mysql_real_connect(shop, NULL, NULL, NULL, "shop", 0, NULL, 0) &&
	    mysql_query(shop, statement) == 0)
		id = mysql_insert_id(shop);
	else
		fprintf(stderr, "orders: %s\n", mysql_error(shop));
	mysql_close(shop);
	return id;
}

int main(void)
{
	const char *method = getenv("REQUEST_METHOD");
	if (!method || strcmp(method, "POST") != 0)
		return refuse(405, "Send a POST.");

	char body[MOST_BODY + 1];
	size_t length = fread(body, 1, MOST_BODY, stdin);
	body[length] = '\0';

	const char *item;
	unsigned long quantity;
	const char *wrong = read_form(body, &item, &quantity);
	if (wrong)
		return refuse(422, wrong);

	unsigned long long id = write_order(item, quantity);
	if (id == 0)
		return refuse(500, "The order was not written down.");
	printf("Status: 201\nLocation: /orders/%llu\nContent-Type: application/json\n\n", id);
	printf("{\"id\":%llu,\"item\":\"%s\",\"quantity\":%lu}\n", id, item, quantity);
	return EXIT_SUCCESS;
}
