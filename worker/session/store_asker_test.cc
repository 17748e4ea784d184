#include "worker/session/store_asker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace galley::worker {
namespace {

// Threads that do not wait write blobs that the store may have.
TEST(StoreAskerTest, NobodyWaitsForAThreadThatConnects) {
  int connects = 0;
  StoreAsker* other_thread = nullptr;
  StoreAsker asker([&](const std::string& directory) {
    EXPECT_EQ(directory, "/store");
    ++connects;
    EXPECT_EQ(other_thread->Where(Digest::Of("meanwhile")), std::nullopt);
    return absl::UnavailableError("it is stuck");
  });
  other_thread = &asker;
  asker.SetStore("/store");
  EXPECT_EQ(asker.Where(Digest::Of("blob")), std::nullopt);
  EXPECT_EQ(asker.Where(Digest::Of("blob")), std::nullopt) << "after a failure nobody is asked";
  EXPECT_EQ(connects, 1);
}

TEST(StoreAskerTest, AStoreThatIsNotTheSessionsAnyMoreIsNotKept) {
  std::vector<std::string> connected;
  StoreAsker* other_thread = nullptr;
  StoreAsker asker([&](const std::string& directory) {
    connected.push_back(directory);
    if (directory == "/first") other_thread->SetStore("/second");
    return absl::UnavailableError("nobody answers");
  });
  other_thread = &asker;
  asker.SetStore("/first");
  EXPECT_EQ(asker.Where(Digest::Of("blob")), std::nullopt);
  EXPECT_EQ(asker.Where(Digest::Of("blob")), std::nullopt);
  EXPECT_EQ(connected, (std::vector<std::string>{"/first", "/second"}));
}

}  // namespace
}  // namespace galley::worker
