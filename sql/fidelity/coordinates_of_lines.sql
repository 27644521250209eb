-- Coordinates of the measurements on some lines of some CSVs.
-- param: lines varchar [JSON list: file_id, line_number]
select m.file_id, m.line_number, h.regime_id, h.axis_1, h.axis_2, h.axis_3, h.axis_4
from (select unnest(from_json($lines, '[{"file_id": "INTEGER", "line_number": "BIGINT"}]'), recursive := true)) as asked
join measurement as m using (file_id, line_number) join held_place as h using (row_id)
