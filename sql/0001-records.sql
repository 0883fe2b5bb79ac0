-- SPDX-License-Identifier: ISC
-- Record and answer in one row, clustered on the id; leases that were renewed or closed beside it; and what the
-- admin programs and natural keys need. All times are UTC and written by the database clock alone. What people
-- sent is VARBINARY and BLOB: no collation ever decides about a key.

CREATE TABLE IF NOT EXISTS once_record (
	id BINARY(32) NOT NULL COMMENT 'SHA-256 over length-prefixed tenant, scope, key',
	tenant VARBINARY(255) NOT NULL,
	route VARBINARY(255) NOT NULL,
	key_text VARBINARY(1024) NOT NULL,
	state ENUM('in_flight', 'complete', 'unknown', 'released', 'expired') NOT NULL,
	token BINARY(16) NOT NULL COMMENT 'given by the claim; kept after completion',
	attempt INT UNSIGNED NOT NULL,
	fingerprint BINARY(32) NOT NULL,
	fingerprint_scheme VARBINARY(127) NOT NULL,
	part_digests VARBINARY(64) NOT NULL,
	lease_until DATETIME(6) NOT NULL COMMENT 'the first lease; renewals are in once_lease',
	created_at DATETIME(6) NOT NULL,
	settled_at DATETIME(6) NULL,
	expires_at DATETIME(6) NOT NULL,
	owner_host VARBINARY(255) NOT NULL,
	owner_boot VARBINARY(40) NOT NULL,
	owner_pidns BIGINT UNSIGNED NOT NULL,
	owner_pid BIGINT UNSIGNED NOT NULL,
	owner_start BIGINT UNSIGNED NOT NULL,
	status SMALLINT UNSIGNED NULL,
	headers MEDIUMBLOB NULL,
	body LONGBLOB NULL,
	reference VARBINARY(1024) NULL,
	flags TINYINT UNSIGNED NOT NULL DEFAULT 0,
	checkpoint VARBINARY(255) NULL,
	checkpoint_data MEDIUMBLOB NULL,
	checkpoint_seq INT UNSIGNED NOT NULL DEFAULT 0,
	PRIMARY KEY (id),
	KEY once_record_expiry (state, expires_at, id, route) COMMENT 'the purge; lists; counts by route without the rows',
	KEY once_record_tenant (tenant, created_at),
	KEY once_record_key (key_text),
	-- Outside strict mode a missing enum becomes '' and a missing date zero: refused all the same.
	CONSTRAINT once_record_state CHECK (state IN ('in_flight', 'complete', 'unknown', 'released', 'expired')),
	CONSTRAINT once_record_deadline CHECK (
		created_at > '2000-01-01' AND lease_until > '2000-01-01' AND expires_at > '2000-01-01'),
	CONSTRAINT once_record_answer CHECK (
		state <> 'complete' OR (status IS NOT NULL AND settled_at IS NOT NULL)),
	CONSTRAINT once_record_attempt CHECK (attempt > 0)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;

-- lease_until '1970-01-01' means closed: nobody can renew it any more.
CREATE TABLE IF NOT EXISTS once_lease (
	token BINARY(16) NOT NULL,
	lease_until DATETIME(6) NOT NULL,
	written_at DATETIME(6) INVISIBLE NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)
		COMMENT 'a closed lease tells no time; UTC as every session of ours is',
	PRIMARY KEY (token),
	CONSTRAINT once_lease_deadline CHECK (lease_until >= '1970-01-01')
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;

-- The claim that holds a natural key, by its record and token, until the window is over. A row without settled_at
-- stands for nothing once its record has gone, has another token or was released.
CREATE TABLE IF NOT EXISTS once_natural_key (
	natural_id BINARY(32) NOT NULL COMMENT 'SHA-256 over length-prefixed tenant, scope, values',
	record_id BINARY(32) NOT NULL,
	token BINARY(16) NOT NULL,
	window_until DATETIME(6) NOT NULL,
	settled_at DATETIME(6) NULL,
	location VARBINARY(2048) NULL,
	PRIMARY KEY (natural_id),
	KEY once_natural_key_record (record_id) COMMENT 'what a person frees or settles with a record',
	KEY once_natural_key_window (window_until),
	CONSTRAINT once_natural_key_deadline CHECK (window_until > '2000-01-01')
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;

CREATE TABLE IF NOT EXISTS once_audit (
	entry BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
	done_at DATETIME(6) NOT NULL,
	record_id BINARY(32) NOT NULL,
	token BINARY(16) NULL,
	state_before VARBINARY(16) NULL,
	state_after VARBINARY(16) NULL COMMENT 'NULL: the record was deleted',
	who VARBINARY(255) NOT NULL COMMENT 'login and sudo user',
	host VARBINARY(255) NOT NULL,
	program VARBINARY(64) NOT NULL,
	reason VARBINARY(1024) NOT NULL,
	PRIMARY KEY (entry),
	KEY once_audit_record (record_id, done_at),
	CONSTRAINT once_audit_time CHECK (done_at > '2000-01-01')
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;

-- A row a task; whoever moves held_until forward by a conditional UPDATE does it.
CREATE TABLE IF NOT EXISTS once_maintenance (
	task VARBINARY(32) NOT NULL,
	holder VARBINARY(255) NOT NULL DEFAULT '',
	held_until DATETIME(6) NOT NULL DEFAULT '1970-01-01',
	started_at DATETIME(6) NULL,
	finished_at DATETIME(6) NULL,
	succeeded_at DATETIME(6) NULL COMMENT 'end of the last run that the database did not refuse',
	deleted BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'over all runs',
	tombstoned BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'over all runs',
	expired BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'keys whose retention was over, over all runs',
	PRIMARY KEY (task)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=ascii COLLATE=ascii_bin;

INSERT IGNORE INTO once_maintenance (task) VALUES ('purge');
