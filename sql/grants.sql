-- SPDX-License-Identifier: ISC
-- The accounts of an installation, to be read, adapted (host, password, database name) and run by a person: no
-- program runs this file. Passwords belong in the option file that oncewrap.conf names by store.option_file, in
-- the groups [oncewrap-migrate], [oncewrap], [oncewrap-admin] and [oncewrap-metrics].

CREATE DATABASE IF NOT EXISTS oncewrap;

-- Schema changes. With this account run `once-migrate up`: the tables must be there for what follows.
CREATE USER IF NOT EXISTS 'oncewrap-migrate'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE ROUTINE, ALTER ROUTINE
	ON oncewrap.* TO 'oncewrap-migrate'@'localhost';

-- The wrapper: claims, settles, replays.
CREATE USER IF NOT EXISTS 'oncewrap'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_record TO 'oncewrap'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_lease TO 'oncewrap'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_natural_key TO 'oncewrap'@'localhost';

-- A person with the once-* programs.
CREATE USER IF NOT EXISTS 'oncewrap-admin'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_record TO 'oncewrap-admin'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_lease TO 'oncewrap-admin'@'localhost';
GRANT SELECT, INSERT, UPDATE, DELETE ON oncewrap.once_natural_key TO 'oncewrap-admin'@'localhost';
GRANT SELECT, INSERT ON oncewrap.once_audit TO 'oncewrap-admin'@'localhost';
GRANT SELECT, UPDATE ON oncewrap.once_maintenance TO 'oncewrap-admin'@'localhost';
GRANT SELECT ON oncewrap.once_schema TO 'oncewrap-admin'@'localhost';

-- Counting only.
CREATE USER IF NOT EXISTS 'oncewrap-metrics'@'localhost' IDENTIFIED BY 'change-me';
GRANT SELECT ON oncewrap.once_record TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_lease TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_maintenance TO 'oncewrap-metrics'@'localhost';
GRANT SELECT ON oncewrap.once_schema TO 'oncewrap-metrics'@'localhost';
