-- Regimes with too many points for lookups to read them all.
-- param: most integer [points that are read]
insert into levelled_regime
select regime_id, len(axis_names) from regime
where regime_id in (select regime_id from point group by regime_id having count(*) > $most)
order by regime_id
