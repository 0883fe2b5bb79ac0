/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/decimal.h"

#include <inttypes.h>

enum {
	MOST_ZEROS = 30,           /* written out before or behind the digits */
	MOST_EXPONENT_DIGITS = 18, /* what int64_t holds, with room for the count of digits */
};

static const unsigned char zeros[] = "000000000000000000000000000000";
_Static_assert(sizeof(zeros) - 1 == MOST_ZEROS, "as many zeros as may be written");

struct digits {
	const unsigned char *start;
	size_t length;
};

/* What the text says: sign, digits before and behind the point, and the power of ten. */
struct number {
	bool negative;
	struct digits whole, fraction;
	int64_t exponent;
};

static bool take_byte(const unsigned char **next, const unsigned char *end, unsigned char byte)
{
	if (*next == end || **next != byte)
		return false;
	++*next;
	return true;
}

static struct digits take_digits(const unsigned char **next, const unsigned char *end)
{
	struct digits digits = {*next, 0};
	while (*next < end && **next >= '0' && **next <= '9')
		++*next;
	digits.length = (size_t)(*next - digits.start);
	return digits;
}

static const char *take_exponent(const unsigned char **next, const unsigned char *end,
				 int64_t *exponent)
{
	bool negative = take_byte(next, end, '-');
	if (!negative)
		take_byte(next, end, '+');
	struct digits digits = take_digits(next, end);
	if (digits.length == 0)
		return "digits must follow the e of an exponent";
	while (digits.length > 0 && *digits.start == '0') {
		digits.start++;
		digits.length--;
	}
	if (digits.length > MOST_EXPONENT_DIGITS)
		return "the exponent has more than 18 digits";
	for (size_t i = 0; i < digits.length; i++)
		*exponent = 10 * *exponent + (digits.start[i] - '0');
	if (negative)
		*exponent = -*exponent;
	return NULL;
}

static const char *take_number(const unsigned char **next, const unsigned char *end,
			       struct number *number)
{
	number->negative = take_byte(next, end, '-');
	number->whole = take_digits(next, end);
	if (number->whole.length == 0)
		return "a number must begin with a digit, or a minus and a digit";
	if (number->whole.length > 1 && *number->whole.start == '0') {
		*next = number->whole.start;
		return "a number must not begin with a zero and another digit";
	}
	if (take_byte(next, end, '.')) {
		number->fraction = take_digits(next, end);
		if (number->fraction.length == 0)
			return "digits must follow a decimal point";
	}
	if (take_byte(next, end, 'e') || take_byte(next, end, 'E'))
		return take_exponent(next, end, &number->exponent);
	return NULL;
}

static unsigned char digit_at(const struct number *number, size_t i)
{
	return i < number->whole.length ? number->whole.start[i]
					: number->fraction.start[i - number->whole.length];
}

/* Append `count` digits from `first` on, of whole and fraction as one run. */
static void put_digits(struct buffer *out, const struct number *number, size_t first, size_t count)
{
	if (first < number->whole.length) {
		size_t left = number->whole.length - first;
		size_t here = count < left ? count : left;
		buffer_append(out, number->whole.start + first, here);
		first += here;
		count -= here;
	}
	if (count > 0)
		buffer_append(out, number->fraction.start + (first - number->whole.length), count);
}

/* `count` digits from `first` on, neither the first nor the last a zero, times ten to `exponent`.
 */
static void put_number(struct buffer *out, const struct number *number, size_t first, size_t count,
		       int64_t exponent)
{
	int64_t point = (int64_t)count + exponent; /* digits before the point */
	if (exponent > MOST_ZEROS || point < -MOST_ZEROS) {
		put_digits(out, number, first, count);
		buffer_printf(out, "e%" PRId64, exponent);
	} else if (exponent >= 0) {
		put_digits(out, number, first, count);
		buffer_append(out, zeros, (size_t)exponent);
	} else if (point > 0) {
		put_digits(out, number, first, (size_t)point);
		buffer_append_byte(out, '.');
		put_digits(out, number, first + (size_t)point, count - (size_t)point);
	} else {
		buffer_append_text(out, "0.");
		buffer_append(out, zeros, (size_t)-point);
		put_digits(out, number, first, count);
	}
}

const char *decimal_take(const unsigned char **next, const unsigned char *end, struct buffer *out)
{
	struct number number = {.exponent = 0};
	const char *rule = take_number(next, end, &number);
	if (rule != NULL)
		return rule;
	size_t first = 0;
	size_t count = number.whole.length + number.fraction.length;
	int64_t exponent = number.exponent - (int64_t)number.fraction.length;
	while (count > 0 && digit_at(&number, first) == '0') {
		first++;
		count--;
	}
	while (count > 0 && digit_at(&number, first + count - 1) == '0') {
		count--;
		exponent++;
	}
	if (count == 0) {
		buffer_append_byte(out, '0'); /* -0 too */
		return NULL;
	}
	if (number.negative)
		buffer_append_byte(out, '-');
	put_number(out, &number, first, count, exponent);
	return NULL;
}
