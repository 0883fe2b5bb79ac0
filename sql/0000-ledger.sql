-- SPDX-License-Identifier: ISC
-- Which migrations have been applied. Made by every `once-migrate up` before it looks for what is pending.
-- A row is written with dirty = TRUE before a migration begins and cleared after it has ended, because DDL
-- commits by itself: a row that stays dirty tells that its migration was cut short.

CREATE TABLE IF NOT EXISTS once_schema (
	version INT UNSIGNED NOT NULL,
	file VARBINARY(255) NOT NULL,
	checksum BINARY(32) NOT NULL COMMENT 'SHA-256 of the file as it was applied',
	dirty BOOLEAN NOT NULL,
	applied_at DATETIME(6) NOT NULL COMMENT 'UTC',
	applied_by VARBINARY(255) NOT NULL,
	PRIMARY KEY (version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;
