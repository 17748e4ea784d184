#include "director/cli/door_metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

TEST(DoorMetricsTest, EachFigureHasItsNameTypeAndMeaning) {
  const std::string text = DoorMetrics({.accepted = 9,
                                        .refused = 2,
                                        .made_room = 3,
                                        .timed_out = 4,
                                        .no_descriptor = 1,
                                        .open = 5,
                                        .unfinished = 6});
  EXPECT_THAT(text, testing::StartsWith("# HELP galley_store_connections_open Connections that are "
                                        "open.\n# TYPE galley_store_connections_open gauge\n"
                                        "galley_store_connections_open 5\n"));
  for (const char* line : {"\ngalley_store_connections_unfinished 6\n",
                           "\ngalley_store_connections_accepted_total 9\n",
                           "\ngalley_store_connections_refused_total 2\n",
                           "\ngalley_store_connections_made_room_total 3\n",
                           "\ngalley_store_connections_timed_out_total 4\n",
                           "\ngalley_store_connections_no_descriptor_total 1\n"})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

}  // namespace
}  // namespace galley::cli
