#include "common/vfs/address_book.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;

class AddressBookTest : public testing::Test {
 protected:
  AddressBook::Found Find(const std::string& host) {
    return book_.Find(host, now_ms_, [&](const std::string&) {
      ++look_ups_;
      return answer_;
    });
  }

  AddressBook book_;
  AddressBook::Found answer_{.addresses = {"10.0.0.1"}, .error = ""};
  uint64_t now_ms_ = 5;
  int look_ups_ = 0;
};

TEST_F(AddressBookTest, ANameIsLookedUpOnce) {
  EXPECT_THAT(Find("director").addresses, ElementsAre("10.0.0.1"));
  now_ms_ += 1'000'000;
  EXPECT_THAT(Find("director").addresses, ElementsAre("10.0.0.1"));
  EXPECT_EQ(look_ups_, 1);
}

TEST_F(AddressBookTest, ADeadResolverCostsOnceInAWhile) {
  answer_ = {.addresses = {}, .error = "no answer"};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Find("director").error, "no answer");
  EXPECT_EQ(look_ups_, 1);
  now_ms_ += AddressBook::kAgainMs;
  answer_ = {.addresses = {"10.0.0.1"}, .error = ""};
  EXPECT_THAT(Find("director").addresses, ElementsAre("10.0.0.1"));
  EXPECT_EQ(look_ups_, 2);
}

TEST_F(AddressBookTest, AHostThatHasMovedIsFound) {
  Find("director");
  book_.NoteUnreached("director");
  Find("director");
  EXPECT_EQ(look_ups_, 1) << "not at once";
  now_ms_ += AddressBook::kAgainMs;
  answer_ = {.addresses = {"10.0.0.2"}, .error = ""};
  EXPECT_THAT(Find("director").addresses, ElementsAre("10.0.0.2"));
  book_.NoteUnreached("director");
  now_ms_ += AddressBook::kAgainMs;
  answer_ = {.addresses = {}, .error = "no answer"};
  EXPECT_THAT(Find("director").addresses, ElementsAre("10.0.0.2")) << "what is known stays";
}

TEST_F(AddressBookTest, ThisMachineNeedsNoResolver) {
  for (const char* name : {"localhost", "LocalHost", "localhost.", "game.localhost"})
    EXPECT_THAT(Find(name).addresses, ElementsAre("127.0.0.1", "::1")) << name;
  EXPECT_EQ(look_ups_, 0);
  Find("localhost.example");
  EXPECT_EQ(look_ups_, 1);
}

}  // namespace
}  // namespace galley::vfs
