"""Bundled figures against the papers: expected numbers were typed from printed tables, not our files."""

import itertools

import numpy as np
import pytest

from examiner.datasets import load

AGENTS = (
    "dqn_mnih2015",
    "dqn",
    "ddqn",
    "prioritized_ddqn",
    "dueling_ddqn",
    "distributional_dqn",
    "noisy_dqn",
)

# Gomes & Souza 2021, Table VI, legible rows: the seven agents, then the random agent.
TABLE_VI = {
    "amidar": (739.5, 978, 1793.3, 2051.8, 2354.5, 1267.9, 1608, 24),
    "asterix": (6012, 4359, 17356.5, 41268, 28188, 400529.5, 12403.8, 162),
    "atlantis": (85641, 279987, 106056, 427658, 382572, 273895, 329010, 2088),
    "beam_rider": (6846, 8627.5, 13772.8, 22430.7, 12164, 13213.4, 12534, 172.48),
    "berzerk": (None, 585.6, 1225.4, 1614.2, 1472.6, 1421.8, 837.3, 131.5),
    "boxing": (71.8, 88, 91.6, 98.8, 99.4, 98.1, 83.3, -48.15),
    "double_dunk": (-18.1, -6.6, -5.5, 4.8, 0.1, -3.8, -1.8, -24),
    "freeway": (30.3, 30.8, 33.3, 32.9, 0, 33.6, 32, 7.21),
    "pong": (18.9, 19.5, 20.9, 20.7, 21, 20.8, 21, -21),
    "private_eye": (1788, 146.7, 129.7, 200, 103, 15172.9, 3966, 1249.39),
    "riverraid": (8316, None, None, None, None, None, None, 211),
    "skiing": (None, -13062.3, -9021.8, -9900.5, -8857.4, -14959.8, -16307.3, -30000),
    "up_n_down": (8456, None, None, None, None, None, None, 529.8),
    "video_pinball": (42684, 196760.4, 309941.9, 406420.4, 98209.5, 478646.7, 270444.6, 753.97),
    "yars_revenge": (None, 18089.9, 11712.6, 16451.7, 49622.1, 16608.6, 9570.1, 2021.68),
}

# Hessel et al. 2018, Table 6, the rows that Table VI above misprints or our copy of it has lost:
# DQN, Double, Prioritized, Dueling, Distributional, Noisy.
RAINBOW_TABLE_6 = {
    "alien": (1620.0, 3747.7, 6648.6, 4461.4, 4055.8, 2394.9),
    "demon_attack": (12149.4, 58044.2, 70171.8, 60813.3, 110626.5, 24950.1),
    "gravitar": (473.0, 412.0, 330.5, 588.0, 681.0, 443.5),
    "hero": (20437.8, 20130.2, 27153.9, 20818.2, 33860.9, 5053.1),
    "ice_hockey": (-1.9, -2.7, 0.3, 0.5, 1.3, -2.1),
    "kangaroo": (7259.0, 12992.0, 14492.0, 14854.0, 12909.0, 12117.0),
    "krull": (8422.3, 7920.5, 10263.1, 11451.9, 9885.9, 9061.9),
    "kung_fu_master": (26059.0, 29710.0, 43470.0, 34294.0, 43009.0, 34099.0),
    "montezuma_revenge": (0.0, 0.0, 0.0, 0.0, 367.0, 0.0),
    "ms_pacman": (3085.6, 2711.4, 4751.2, 6283.5, 3769.2, 2501.6),
    "venture": (163.0, 98.0, 863.0, 497.0, 1107.0, 0.0),
    "zaxxon": (5363.0, 10163.0, 13490.0, 12944.0, 18347.5, 9390.0),
}

# Gomes & Souza 2021, Table VII: the rows with more than one game, by number of row.
TABLE_VII_GROUPS = {
    "1": {"hero", "krull"},
    "5": {"battle_zone", "berzerk", "chopper_command", "jamesbond", "up_n_down"},
    "8": {"riverraid", "robotank"},
    "17": {"centipede", "space_invaders"},
    "19": {"atlantis", "ms_pacman"},
    "21": {
        "assault",
        "beam_rider",
        "demon_attack",
        "enduro",
        "phoenix",
        "solaris",
        "star_gunner",
        "time_pilot",
        "yars_revenge",
    },
    "23": {"asteroids", "gravitar", "road_runner", "zaxxon"},
    "29": {"asterix", "boxing", "gopher", "kung_fu_master", "name_this_game", "seaquest"},
}

# Machado et al. 2018, Table 1: Brute, Sarsa(λ) + Blob-PROST, DQN; each deterministic and sticky.
MACHADO_TABLE_1 = {
    "asterix": (6909, 1018, 308, 31, 4173, 872, 3411, 414, 3501, 420, 3123, 96),
    "beam_rider": (1132, 178, 428, 18, 2098, 508, 1851, 407, 4687, 704, 4552, 849),
    "freeway": (1.1, 0.4, 0.0, 0.0, 32.1, 0.4, 31.8, 0.3, 32.2, 0.1, 31.6, 0.7),
    "seaquest": (621, 192, 81, 7, 1340, 245, 1204, 190, 1397, 215, 1431, 162),
    "space_invaders": (1432, 226, 148, 11, 723, 86, 583, 31, 673, 18, 687, 37),
}


def scores_by_cell(results):
    rows = zip(results.column("agent"), results.column("task"), results.measure(), strict=True)
    return {(agent, task): score for agent, task, score in rows}


def test_the_dqn_family_has_the_seven_agents_of_the_paper_on_55_games():
    results = load("atari-dqn-family")
    assert results.agents == tuple(sorted(AGENTS))
    assert len(results.tasks) == 55
    assert list(results.tasks) == sorted(results.tasks)
    assert results.measures == ("score",)
    assert set(results.column("run")) == set(results.column("trial")) == {0}


@pytest.mark.parametrize("game", TABLE_VI)
def test_scores_and_random_agent_are_those_of_table_vi(game):
    results = load("atari-dqn-family")
    cells = scores_by_cell(results)
    *scores, random = TABLE_VI[game]
    assert tuple(cells.get((agent, game)) for agent in AGENTS) == tuple(scores)
    assert results.scales.lookup(game, needs=["random"]).random == random


@pytest.mark.parametrize("game", RAINBOW_TABLE_6)
def test_misprinted_and_lost_rows_have_the_figures_of_the_cited_source(game):
    cells = scores_by_cell(load("atari-dqn-family"))
    assert tuple(cells[agent, game] for agent in AGENTS[1:]) == RAINBOW_TABLE_6[game]


def test_venture_of_mnih_et_al_is_380_and_not_the_printed_3800():
    assert scores_by_cell(load("atari-dqn-family"))["dqn_mnih2015", "venture"] == 380


def test_mnih_et_al_have_49_of_the_games_and_hessel_et_al_52():
    played = {agent: set() for agent in AGENTS}
    for agent, task in scores_by_cell(load("atari-dqn-family")):
        played[agent].add(task)
    assert [len(played[agent]) for agent in AGENTS] == [49, 52, 52, 52, 52, 52, 52]


def test_every_game_of_the_dqn_family_has_both_scales():
    results = load("atari-dqn-family")
    assert len(results.scales) == 2 * len(results.tasks)
    for task in results.tasks:
        random_only = results.scales.lookup(task, needs=["random"])
        with_human = results.scales.lookup(task, needs=["random", "reference"])
        assert random_only.source.startswith("Gomes & Souza")
        assert random_only.reference is None
        assert with_human == load("atari-human-random").lookup(task)


def test_the_uncertain_random_scores_are_told_to_the_reader():
    note = load("atari-dqn-family").notes[0]
    uncertain = ("jamesbond", "kangaroo", "krull", "kung_fu_master", "montezuma_revenge")
    assert all(game in note for game in uncertain)
    assert "uncertain" in note


# Wang et al. 2016, no-op starts: random, human; typed from the table in DQN Zoo (atari_data.py).
@pytest.mark.parametrize(
    ("game", "random", "human"),
    [
        ("alien", 227.8, 7127.7),
        ("breakout", 1.7, 30.5),
        ("double_dunk", -18.6, -16.4),
        ("pong", -20.7, 14.6),
        ("skiing", -17098.1, -4336.9),
        ("surround", -10.0, 6.5),
        ("video_pinball", 16256.9, 17667.9),
        ("zaxxon", 32.5, 9173.3),
    ],
)
def test_human_and_random_scores_are_those_published(game, random, human):
    scale = load("atari-human-random").lookup(game)
    assert (scale.random, scale.reference, scale.direction) == (random, human, "higher")


def test_in_none_of_57_games_is_the_human_at_or_below_random():
    scales = load("atari-human-random")
    assert len(scales) == len(scales.tasks) == 57
    assert scales.aligned(scales.tasks).inverted == ()


def test_the_typology_has_55_games_in_31_groups_that_are_its_distinct_descriptions():
    kinds = load("atari-typology")
    assert (len(kinds.tasks), len(kinds.features)) == (55, 9)
    groups = kinds.attributes["paper_group"]
    assert set(groups) == {str(number) for number in range(1, 32)}
    assert len(set(kinds.values)) == 31
    assert len(set(zip(groups, kinds.values, strict=True))) == 31


def test_groups_of_several_games_are_those_of_table_vii():
    kinds = load("atari-typology")
    pairs = sorted(zip(kinds.attributes["paper_group"], kinds.tasks, strict=True))
    groups = {
        group: {task for _, task in members}
        for group, members in itertools.groupby(pairs, key=lambda pair: pair[0])
    }
    assert {group: games for group, games in groups.items() if len(games) > 1} == TABLE_VII_GROUPS


# Table VII, where a printed None of Haste or Synchronicity is read as absent.
@pytest.mark.parametrize(
    ("game", "printed"),
    [
        ("tutankham", "vagrant relative fixed present present arbitrary temporal instance 1p"),
        ("skiing", "vagrant relative none absent absent mimetic none instance 1p"),
        ("crazy_climber", "vagrant absolute fixed absent present arbitrary none instance 1p"),
        ("breakout", "omnipresent relative fixed absent absent arbitrary none identical 1p"),
        (
            "wizard_of_wor",
            "omnipresent relative fixed absent present arbitrary temporal instance 2p",
        ),
        ("space_invaders", "omnipresent relative fixed present present arbitrary none instance 1p"),
        ("qbert", "omnipresent absolute none absent present arbitrary none instance 1p"),
        ("pong", "omnipresent relative none absent present mimetic none identical 1p"),
    ],
)
def test_games_are_described_as_in_table_vii(game, printed):
    kinds = load("atari-typology")
    assert " ".join(kinds.values[kinds.tasks.index(game)]) == printed


def test_the_typology_and_the_dqn_family_are_about_the_same_games():
    assert set(load("atari-typology").tasks) == set(load("atari-dqn-family").tasks)


def test_every_figure_of_machado_table_1_is_as_printed():
    table = load("machado-2018-table1").columns
    measured = zip(
        table["deterministic_mean"],
        table["deterministic_sd"],
        table["sticky_mean"],
        table["sticky_sd"],
        strict=True,
    )
    rows = dict(zip(zip(table["game"], table["agent"], strict=True), measured, strict=True))
    assert len(rows) == 15
    for game, printed in MACHADO_TABLE_1.items():
        assert rows[game, "brute"] == printed[:4]
        assert rows[game, "sarsa_blob_prost"] == printed[4:8]
        assert rows[game, "dqn"] == printed[8:]


# Stephenson et al. 2020, Table II: the first, second and last row.
@pytest.mark.parametrize(
    "printed",
    [
        "1 freeway 1.17484168 invest 1.62405816 freeway 1.89430152 freeway 1.89430152",
        "2 labyrinth 1.10088062 intersection 1.13955416 invest 1.62405816 invest 3.08236771",
        "10 escape 0.87721725 realportals 0.73246317 doorkoban 1.2859386 watergame 4.6845748",
    ],
)
def test_information_gains_are_those_of_stephenson_table_ii(printed):
    table = load("gvgai-information-2019")
    rows = [" ".join(map(str, row)) for row in zip(*table.columns.values(), strict=True)]
    assert len(rows) == 10
    assert printed in rows


def test_information_of_a_greedy_set_grows_by_less_and_less_towards_its_limit():
    bits = np.array(load("gvgai-information-2019").columns["greedy_cumulative_bits"])
    assert (np.diff(bits) > 0).all()
    assert (np.diff(bits, n=2) < 0).all()
    assert bits[-1] < np.log2(27)


# Martínez-Plumed & Hernández-Orallo 2017, Table 1.
@pytest.mark.parametrize(
    ("game", "actions", "difficulty", "discrimination"),
    [
        ("amidar", 10, 2.49232336, 78.0941338),
        ("hero", 18, 9.14254376, 0.4492266),
        ("pong", 3, -0.04440702, 34.1502733),
        ("tennis", 18, 10.48605210, -0.1116351),
        ("zaxxon", 18, 0.87547205, 2.7558438),
        ("krull", 18, None, None),
    ],
)
def test_item_parameters_are_those_of_the_2017_table(game, actions, difficulty, discrimination):
    table = load("atari-irt-2017-table1").columns
    row = table["game"].index(game)
    assert (table["actions"][row], table["difficulty"][row], table["discrimination"][row]) == (
        actions,
        difficulty,
        discrimination,
    )


def test_the_2017_table_has_49_games_of_which_8_have_no_estimate_and_4_are_negative():
    table = load("atari-irt-2017-table1").columns
    missing = {
        game
        for game, value in zip(table["game"], table["difficulty"], strict=True)
        if value is None
    }
    negative = {
        game
        for game, value in zip(table["game"], table["discrimination"], strict=True)
        if value is not None and value < 0
    }
    assert len(table["game"]) == 49
    assert missing == {
        "alien",
        "asteroids",
        "bowling",
        "gravitar",
        "krull",
        "montezuma_revenge",
        "ms_pacman",
        "private_eye",
    }
    assert negative == {"centipede", "tennis", "venture", "video_pinball"}
