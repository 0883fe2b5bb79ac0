/* SPDX-License-Identifier: ISC */
/* A column of what an admin program lists: one const table a program, walked by every format and by
 * --columns. */
#ifndef ONCEWRAP_ADMIN_COLUMN_H
#define ONCEWRAP_ADMIN_COLUMN_H

#include "admin/common/cell.h"

/* Where a column is shown without being asked for. */
#define COLUMN_TABLE 0x1u
#define COLUMN_WIDE  0x2u
#define COLUMN_DATA  0x4u /* json and csv: grows at the end only */
#define COLUMN_ALL   (COLUMN_TABLE | COLUMN_WIDE | COLUMN_DATA)

struct column {
	const char *name;    /* as in --columns, json and csv; a table has it in capitals */
	enum cell_kind kind; /* of its cells, where they are not CELL_NOTHING */
	struct cell (*value)(const void *row);
	unsigned shown;
	size_t cut;   /* without --full no more characters than these; 0: all */
	bool right;   /* aligned to the right */
	bool shrinks; /* gives way when the terminal is narrow */
};

#endif
