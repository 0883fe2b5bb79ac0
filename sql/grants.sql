-- SPDX-License-Identifier: ISC
-- The accounts of an installation, to be read, adapted (host, password, database name) and run by a person: no
-- program runs this file. Passwords belong in the option file that oncewrap.conf names by store.option_file, in
-- the groups [oncewrap-migrate], [oncewrap], [oncewrap-admin] and [oncewrap-metrics].

CREATE DATABASE IF NOT EXISTS oncewrap;

-- Schema changes. With this account run `once-migrate up`: the tables must be there for what follows.
CREATE USER IF NOT EXISTS 'oncewrap-migrate'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE ROUTINE, ALTER ROUTINE, CREATE TEMPORARY TABLES
	ON oncewrap.* TO 'oncewrap-migrate'@'localhost';

-- The wrapper: claims, settles, replays.
CREATE USER IF NOT EXISTS 'oncewrap'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_record TO 'oncewrap'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_lease TO 'oncewrap'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_natural_key TO 'oncewrap'@'localhost';

-- A person with the once-* programs. Temporary tables are for `once-doctor` and `once-migrate verify`, which let the
-- server say what the tables should be.
CREATE USER IF NOT EXISTS 'oncewrap-admin'@'localhost' IDENTIFIED BY 'change-me';
GRANT CREATE TEMPORARY TABLES ON oncewrap.* TO 'oncewrap-admin'@'localhost';
GRANT SELECT, UPDATE, DELETE ON oncewrap.once_record TO 'oncewrap-admin'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_lease TO 'oncewrap-admin'@'localhost';
GRANT SELECT, UPDATE, DELETE ON oncewrap.once_natural_key TO 'oncewrap-admin'@'localhost';
GRANT SELECT, INSERT ON oncewrap.once_audit TO 'oncewrap-admin'@'localhost';
GRANT SELECT, UPDATE ON oncewrap.once_maintenance TO 'oncewrap-admin'@'localhost';
GRANT SELECT ON oncewrap.once_schema TO 'oncewrap-admin'@'localhost';
-- On a replica that `once-expire --max-lag` looks at, and there only:
-- GRANT SLAVE MONITOR ON *.* TO 'oncewrap-admin'@'localhost';

-- Counting, and the status page: no stored answer, no fingerprint, no checkpoint. Of the last two tables it is the size
-- that is asked for, which the server tells to whoever may read any of them.
CREATE USER IF NOT EXISTS 'oncewrap-metrics'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT (id, tenant, route, key_text, state, token, attempt, lease_until, created_at, settled_at, expires_at,
	owner_host, owner_pid, status, flags)
	ON oncewrap.once_record TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_lease TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_maintenance TO 'oncewrap-metrics'@'localhost';
GRANT SELECT (natural_id) ON oncewrap.once_natural_key TO 'oncewrap-metrics'@'localhost';
GRANT SELECT (entry) ON oncewrap.once_audit TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_schema TO 'oncewrap-metrics'@'localhost';
