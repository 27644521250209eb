-- Whether a target may be answered from a measured point: from every point, unless a hold-out run redefines this.
-- source: sql/fidelity/is_kept.sql
create or replace temp macro is_kept(target, axis_1, axis_2, axis_3, axis_4) as true
