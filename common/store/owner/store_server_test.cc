// Owners, clients and sockets.
#include "common/store/owner/store_server.h"

#include <sys/stat.h>

#include <filesystem>

#include "common/base/status_macros.h"
#include "common/store/local/open.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/folder_watch.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;

uint32_t ModeOf(const std::string& path) { return StatFile(path)->mode & 0777; }

TEST(StoreServerTest, TheFirstOwnsAndTheSecondConnects) {
  const TemporaryFolder folder;
  const auto first = OpenOrConnect(folder.path());
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = OpenOrConnect(folder.path());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(GetBytes(**second, PutBytes(**first, "shared")), "shared");
  EXPECT_EQ(ModeOf(folder.In("store.sock")), 0600u);
}

TEST(StoreServerTest, AClientFindsTheNextOwner) {
  const TemporaryFolder folder;
  auto first = *OpenOrConnect(folder.path());
  const auto client = *ConnectStore(folder.path(), {.reconnect_time = absl::Milliseconds(100)});
  const Digest digest = PutBytes(*client, "kept");
  first.reset();
  EXPECT_EQ(client->Get(digest).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ConnectStore(folder.path()).status().code(), absl::StatusCode::kUnavailable);
  const auto next = *OpenOrConnect(folder.path());
  const auto patient = *ConnectStore(folder.path());
  EXPECT_EQ(GetBytes(*patient, digest), "kept");
}

TEST(StoreServerTest, AStaleSocketIsReplaced) {
  const TemporaryFolder folder;
  {
    const auto owner = *OpenOrConnect(folder.path());
    fs::create_hard_link(folder.In("store.sock"), folder.In("kept.sock"));
  }
  fs::rename(folder.In("kept.sock"),
             folder.In("store.sock"));  // as a killed owner leaves it
  const auto owner = OpenOrConnect(folder.path());
  ASSERT_TRUE(owner.ok()) << owner.status();
  const auto client = ConnectStore(folder.path());
  EXPECT_TRUE(client.ok()) << client.status();
}

TEST(StoreServerTest, ServesAStoreWhosePathIsTooLongForASocketOrHasOddCharacters) {
  const TemporaryFolder folder;
  for (const std::string& name : {std::string(150, 'd'), std::string("a b%20#?")}) {
    const std::string directory = folder.In(name);
    const auto owner = OpenOrConnect(directory);
    ASSERT_TRUE(owner.ok()) << owner.status();
    const auto client = ConnectStore(directory);
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ(GetBytes(**client, PutBytes(**owner, "far")), "far");
    EXPECT_EQ(ModeOf(SocketPath(directory)), 0600u);
  }
}

TEST(StoreServerTest, IsFoundWhenTheFileThatSaysWhereIsDamagedOrGone) {
  const TemporaryFolder folder;
  const std::string directory = folder.In(std::string(150, 'd'));
  const std::string file = JoinPath(directory, "store.sock.path");
  const auto owner = OpenOrConnect(directory);
  ASSERT_TRUE(owner.ok()) << owner.status();
  const std::string whole = *ReadFile(file);
  std::vector<std::string> wrong = {"", std::string(whole.size(), '\0'), "/tmp/elsewhere\n"};
  for (size_t i = 0; i < whole.size(); i += 7) {
    wrong.push_back(whole);
    wrong.back()[i] ^= 1;
  }
  for (const std::string& text : wrong) {
    SCOPED_TRACE(text);
    ASSERT_TRUE(WriteFileAtomic(file, text).ok());
    EXPECT_TRUE(ConnectStore(directory).ok());
  }
  fs::remove(file);
  EXPECT_TRUE(ConnectStore(directory).ok());
  fs::create_directory(file);
  EXPECT_TRUE(ConnectStore(directory).ok());
  // The file of an older program has only the first line.
  fs::remove(file);
  ASSERT_TRUE(WriteFileAtomic(file, whole.substr(0, whole.find('\n') + 1)).ok());
  EXPECT_TRUE(ConnectStore(directory).ok());
}

TEST(StoreServerTest, ErrorsKeepTheirCodeOnTheWay) {
  const TemporaryFolder folder;
  const auto owner = *OpenOrConnect(folder.path());
  const auto client = *ConnectStore(folder.path());
  EXPECT_EQ(client->Get(Digest::Of("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client->Put(Digest::Of("a"), "longer than it should be").code(),
            absl::StatusCode::kInvalidArgument);
  const Digest large = PutBytes(*client, LargeBytes('r', 3 << 20));
  ASSERT_TRUE(client->Commit({}).ok());
  const std::string path = folder.In("files/" + large.hex().substr(0, 2) + "/" + large.hex() + "-" +
                                     std::to_string(large.size_bytes()));
  MakeWritable(path);
  fs::resize_file(path, 100);
  EXPECT_EQ(client->Get(large).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(EpochOf(*client), 1u);
}

TEST(StoreServerTest, AnOwnerWhoseFolderWasDeletedOrReplacedSaysSo) {
  const TemporaryFolder folder;
  const std::string directory = folder.In("store");
  const auto owner = *OpenOrConnect(directory);
  const auto watch = *FolderWatch::Begin(directory);
  PutBytes(*owner, "a");
  ASSERT_TRUE(owner->Commit({}).ok());
  EXPECT_TRUE(watch.CheckFolderAndLock().ok());
  fs::remove(JoinPath(directory, "lock"));
  EXPECT_TRUE(watch.CheckFolder().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(watch.CheckFolderAndLock()));
  fs::rename(directory, folder.In("aside"));
  EXPECT_THAT(MessageOf(owner->Put(Digest::Of("b"), "b")), testing::HasSubstr("was deleted while"));
  EXPECT_THAT(MessageOf(owner->Commit({})), testing::HasSubstr(directory + " was deleted while"));
  fs::create_directory(directory);
  EXPECT_THAT(MessageOf(owner->Publish({}).status()), testing::HasSubstr("was replaced while"));
}

}  // namespace
}  // namespace galley::store
