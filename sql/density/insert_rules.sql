-- Adds the rows of density rules, one per limit and per required value.
-- param: rows struct[] [rule_name, axis_name, path, kernel_type, range_from, range_to, max_gap, max_ratio, required_value, source]
insert into density_rule by name
select unnest($rows, recursive := true)
