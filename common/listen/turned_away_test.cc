#include "common/listen/turned_away.h"

#include "gmock/gmock.h"

namespace galley::listen {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(TurnedAwayTest, OneLineWhenItBeginsAndOneWithTheNumbersAfterAQuietSecond) {
  TurnedAway turned_away("reapi", {.connections_max = 4, .unfinished_per_address_max = 2});
  absl::Time now = absl::FromUnixSeconds(1000);
  DoorFigures figures{.accepted = 5, .open = 4, .unfinished = 1};
  EXPECT_EQ(turned_away.Note(figures, now), std::nullopt);
  figures.refused = 1;
  EXPECT_THAT(turned_away.Note(figures, now),
              Optional(HasSubstr("reapi: connections are turned away: 4 of at most 4 are open")));
  for (int i = 0; i < 10; ++i) {
    now += absl::Milliseconds(500);
    figures.refused += 100;
    EXPECT_EQ(turned_away.Note(figures, now), std::nullopt);
  }
  figures.made_room = 3;
  figures.open = 2;
  EXPECT_EQ(turned_away.Note(figures, now), std::nullopt);
  now += absl::Milliseconds(999);
  EXPECT_EQ(turned_away.Note(figures, now), std::nullopt);
  EXPECT_TRUE(turned_away.is_going_on());
  now += absl::Milliseconds(1);
  EXPECT_THAT(turned_away.Note(figures, now),
              Optional(HasSubstr("in 5.0 s 1001 were refused, 3 silent ones were closed to make "
                                 "room and 0 after their time, 0 came while no descriptor was "
                                 "left; 2 are open")));
  EXPECT_FALSE(turned_away.is_going_on());
  EXPECT_EQ(turned_away.Note(figures, now), std::nullopt);
  figures.no_descriptor = 1;
  EXPECT_THAT(turned_away.Note(figures, now), Optional(HasSubstr("no descriptor left")));
}

}  // namespace
}  // namespace galley::listen
