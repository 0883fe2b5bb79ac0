-- What the example handlers write to: a database of their own, not the one that oncewrap keeps its records in.
CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4;
CREATE TABLE IF NOT EXISTS shop.orders (
	id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
	item VARCHAR(64) NOT NULL,
	quantity INT UNSIGNED NOT NULL,
	made_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	KEY item (item)
) ENGINE=InnoDB;
