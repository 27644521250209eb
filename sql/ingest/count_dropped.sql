-- Measurements that a path cannot place, by reason.
insert into dropped_point
select file_id, path, reason, count(*) from placed_row where reason is not null group by all order by all
