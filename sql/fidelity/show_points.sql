-- Takes the copy of the points away, so that lookups see the table of the file again.
drop table if exists temp.point
