#!/usr/bin/perl
# SPDX-License-Identifier: ISC
# Takes an order, item=NAME&quantity=NUMBER, and writes it down. Nothing here knows about retries.
use strict;
use warnings;
use DBI;

sub answer {
	my ($status, $type, $body, @headers) = @_;
	print map { "$_\n" } "Status: $status", "Content-Type: $type", @headers, '', $body;
	exit 0;
}

answer(405, 'text/plain', 'Send a POST.') unless $ENV{REQUEST_METHOD} eq 'POST';
read STDIN, my $body, $ENV{CONTENT_LENGTH} // 0;
my %form = map { /^(\w+)=(.*)$/s ? ($1, $2) : () } split /&/, $body // '';
s/\+/ /g, s/%([0-9A-Fa-f]{2})/chr hex $1/ge for values %form;
answer(422, 'text/plain', 'item: 1 to 64 letters, digits, dots, underscores and hyphens.')
    unless ($form{item} // '') =~ /\A[\w.-]{1,64}\z/a;
answer(422, 'text/plain', 'quantity: a number from 1 to 9999.')
    unless ($form{quantity} // '') =~ /\A[1-9][0-9]{0,3}\z/;

my $shop = eval {
	DBI->connect("DBI:MariaDB:database=shop;mariadb_read_default_file=$ENV{SHOP_CNF}",
	    undef, undef, { RaiseError => 1, PrintError => 0 });
};
my ($id) = eval {
	$shop->selectrow_array('INSERT INTO orders (item, quantity) VALUES (?, ?) RETURNING id',
	    undef, $form{item}, $form{quantity});
} or answer(500, 'text/plain', 'The order was not written down.');

answer(201, 'application/json', qq({"id":$id,"item":"$form{item}","quantity":$form{quantity}}),
    "Location: /orders/$id");
