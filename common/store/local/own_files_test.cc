// The small files of a store, each damaged in each way: the store opens, has lost nothing, and
// notes the repair once.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>

#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "common/store/local/layout.h"
#include "common/store/local/log_records.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;

using Damage = std::function<void(const std::string& path)>;

void Rewrite(const std::string& path, const std::function<void(std::string& bytes)>& change) {
  std::string bytes = *ReadFile(path);
  change(bytes);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
}

std::map<std::string, Damage> Damages() {
  std::map<std::string, Damage> damages = {
      {"empty", [](const auto& path) { Rewrite(path, [](auto& bytes) { bytes.clear(); }); }},
      {"half",
       [](const auto& path) {
         Rewrite(path, [](auto& bytes) { bytes.resize(bytes.size() / 2); });
       }},
      {"zeroed",
       [](const auto& path) {
         Rewrite(path, [](auto& bytes) { bytes.assign(bytes.size(), '\0'); });
       }},
      {"longer", [](const auto& path) { Rewrite(path, [](auto& bytes) { bytes += "more\n"; }); }},
      {"huge", [](const auto& path) { Rewrite(path, [](auto& bytes) { bytes.resize(1 << 20); }); }},
      {"deleted", [](const auto& path) { fs::remove(path); }},
      {"folder",
       [](const auto& path) {
         fs::remove(path);
         fs::create_directories(path + "/somebody's");
       }},
      {"unreadable", [](const auto& path) { ASSERT_EQ(::chmod(path.c_str(), 0), 0); }},
  };
  for (const size_t eighth : {0, 3, 5, 7}) {
    damages[fmt::format("flip{}", eighth)] = [eighth](const auto& path) {
      Rewrite(path, [&](auto& bytes) {
        if (!bytes.empty()) bytes[bytes.size() * eighth / 8] ^= 1;
      });
    };
  }
  return damages;
}

class OwnFilesTest : public testing::Test {
 protected:
  // The store has lost something twice, and the epoch file is from the time in between.
  void SetUp() override {
    const auto store = Open(live_);
    kept_ = PutBytes(*store, "kept");
    for (const char* name : {"one", "two"}) {
      const PutResult result = SampleResult(name, kept_);
      ASSERT_TRUE(store->Commit({.results = {result}}).ok());
      if (std::string(name) == "two") {
        ASSERT_TRUE(WriteFileAtomic(folder_.In("older"), *ReadFile(live_ + "/epoch")).ok());
      }
      ASSERT_TRUE(store->Forget(std::span(&result.action_key, 1)).ok());
    }
    ASSERT_TRUE(store->Commit({.results = {result_}}).ok());
    ASSERT_EQ(*store->Publish(SampleRoot("windows", kept_)), 1u);
    info_ = *store->Info();
    ASSERT_EQ(info_.loss_epoch, 2u);
    TakeRepairs();
  }
  static std::unique_ptr<StoreDirectory> Open(const std::string& directory) {
    absl::StatusOr<std::unique_ptr<StoreDirectory>> store =
        OpenLocalStore(directory, {.sync = [](int) { return 0; }});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::string Copy(const std::string& name) {
    fs::copy(live_, folder_.In(name), fs::copy_options::recursive);
    return folder_.In(name);
  }
  void Check(StoreDirectory& store) {
    EXPECT_EQ(GetBytes(store, kept_), "kept");
    EXPECT_THAT(ResultOf(store, result_.action_key), Optional(result_.result));
    EXPECT_THAT(*store.Roots("project"), SizeIs(1));
    EXPECT_EQ(store.Info()->store_id, info_.store_id);
    EXPECT_GE(store.Info()->loss_epoch, info_.loss_epoch);
  }

  const TemporaryFolder folder_;
  const std::string live_ = folder_.In("live");
  Digest kept_;
  const PutResult result_ = SampleResult("kept", Digest::Of("kept"));
  StoreInfo info_;
};

TEST_F(OwnFilesTest, EachDamageOfEachIsPutRightAndToldOnce) {
  int number = 0;
  for (const std::string file :
       {"format", "id", "epoch", "lock", "syncing", "compacted", "verify", "leases"}) {
    for (const auto& [name, damage] : Damages()) {
      SCOPED_TRACE(file + " " + name);
      const std::string store = Copy(fmt::format("copy{}", ++number));
      const std::string path = JoinPath(store, file);
      if (!FileExists(path)) {
        ASSERT_TRUE(WriteFileAtomic(path, "galley\n").ok());
      }
      const std::string before = *ReadFile(path);
      damage(path);
      const bool is_told = (file == "format" || file == "id" || file == "epoch") &&
                           !(name == "unreadable" && ::geteuid() == 0);
      {
        const auto opened = Open(store);
        ASSERT_NE(opened, nullptr);
        Check(*opened);
        EXPECT_TRUE(opened->Verify().ok());
      }
      const std::vector<std::string> told = TakeRepairs();
      if (is_told) {
        EXPECT_THAT(told, SizeIs(1));
        EXPECT_THAT(told, Contains(HasSubstr(path)));
      }
      const auto again = Open(store);
      ASSERT_NE(again, nullptr);
      Check(*again);
      EXPECT_THAT(TakeRepairs(), IsEmpty());
      if (file == "format" || file == "id") {
        EXPECT_EQ(*ReadFile(path), before);
      }
      if (name == "folder" && file != "compacted") {
        EXPECT_TRUE(FileExists(path + ".broken-1/somebody's"))
            << "nothing of a person's is deleted";
      }
    }
  }
}

TEST_F(OwnFilesTest, AnOlderEpochIsNotBelievedWhateverElseIsLost) {
  fs::copy_file(folder_.In("older"), live_ + "/epoch", fs::copy_options::overwrite_existing);
  const std::string without_index = Copy("without_index");
  EXPECT_EQ(Open(live_)->Info()->loss_epoch, 2u);
  EXPECT_THAT(TakeRepairs(), Contains(HasSubstr("it was an older file")));
  EXPECT_EQ(Open(live_)->Info()->loss_epoch, 2u);
  EXPECT_THAT(TakeRepairs(), IsEmpty());

  fs::remove_all(without_index + "/index");
  const auto store = Open(without_index);
  Check(*store);
  EXPECT_GT(store->Info()->loss_epoch, 2u) << "what the index knew is not known";
}

TEST_F(OwnFilesTest, TheEpochIsInTheSegments) {
  const auto newest = ListSegments(live_)->back();
  EXPECT_EQ(ReadSegmentHeader(live_, newest.number)->loss_epoch, 0u) << "it was made before";
  uint64_t said = 0;
  ASSERT_TRUE(ScanSegment(live_, newest.number, kSegmentHeaderBytes,
                          [&](uint64_t, const RecordHeader& header, std::string_view payload) {
                            if (header.kind == RecordKind::kLoss) {
                              said = std::max(said, DecodeLoss(payload)->epoch);
                            }
                            return absl::OkStatus();
                          })
                  .ok());
  EXPECT_EQ(said, 2u);
  const uint64_t segment = *Open(live_)->AllocateSegment();
  EXPECT_EQ(ReadSegmentHeader(live_, segment)->loss_epoch, 2u);
}

TEST_F(OwnFilesTest, TheIdIsThatOfMostSegments) {
  {
    const auto store = Open(live_);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->AllocateSegment().ok());
  }
  const std::string other(32, 'a');
  const uint64_t newest = ListSegments(live_)->back().number;
  ASSERT_TRUE(WriteFileAtomic(SegmentPath(live_, newest),
                              EncodeSegmentHeader({.writer = SegmentWriterKind::kWorker,
                                                   .number = newest,
                                                   .store_id = other,
                                                   .loss_epoch = 77}))
                  .ok());
  ASSERT_TRUE(WriteFileAtomic(live_ + "/id", other + "\n").ok());
  EXPECT_EQ(Open(live_)->Info()->store_id, info_.store_id);
  EXPECT_THAT(TakeRepairs(), Contains(HasSubstr("id: it was that of another store")));
  EXPECT_EQ(Open(live_)->Info()->store_id, info_.store_id);
  EXPECT_EQ(Open(live_)->Info()->loss_epoch, 2u) << "not the other store's";
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(OwnFilesTest, ALaterFormatIsRefusedAndStays) {
  const std::string path = live_ + "/format", later = Seal("galley-store", 2, {});
  ASSERT_TRUE(WriteFileAtomic(path, later).ok());
  EXPECT_EQ(OpenLocalStore(live_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*ReadFile(path), later);
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(OwnFilesTest, AnOwnerIsKnownWithoutItsLock) {
  const auto owner = Open(live_);
  for (const auto& [name, damage] : Damages()) {
    SCOPED_TRACE(name);
    const std::string lock = live_ + "/lock";
    fs::remove_all(lock);
    ASSERT_TRUE(WriteFileAtomic(lock, "").ok());
    damage(lock);
    EXPECT_EQ(OpenLocalStore(live_).status().code(), absl::StatusCode::kAlreadyExists);
  }
  EXPECT_EQ(GetBytes(*owner, PutBytes(*owner, "more")), "more");
}

TEST_F(OwnFilesTest, AFolderInPlaceOfASegmentIsALossAndInPlaceOfALargeFileToo) {
  const Digest large = Digest::Of(LargeBytes('L'));
  uint64_t segment = 0;
  {
    const auto store = Open(live_);
    PutBytes(*store, LargeBytes('L'));
    ASSERT_TRUE(store->Commit({}).ok());
    segment = *store->AllocateSegment();
  }
  for (const std::string& path : {SegmentPath(live_, segment), BlobFilePath(live_, large)}) {
    fs::remove(path);
    fs::create_directories(path + "/somebody's");
  }
  const auto store = Open(live_);
  ASSERT_NE(store, nullptr);
  Check(*store);
  EXPECT_TRUE(absl::IsDataLoss(store->Get(large).status()));
  EXPECT_EQ(GetBytes(*store, PutBytes(*store, LargeBytes('L'))), LargeBytes('L'));
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_THAT(TakeRepairs(), Contains(HasSubstr(SegmentPath(live_, segment))));
}

TEST_F(OwnFilesTest, ASessionThatWasDamagedHoldsAndOneThatWasDeletedIsThereAgainWhenItIsRenewed) {
  Session session = *Session::Begin(live_, "mine");
  const auto path_of_it = [&] {
    for (const auto& entry : fs::directory_iterator(live_ + "/sessions")) {
      if (entry.is_regular_file()) return entry.path().string();
    }
    return std::string();
  };
  const auto names = [&] {
    std::vector<std::string> found;
    const auto sessions = LiveSessions(live_);
    for (const SessionInfo& info : *sessions) found.push_back(info.name);
    return found;
  };
  const std::string path = path_of_it();
  const std::string text = *ReadFile(path);
  for (size_t i = 0; i < text.size(); ++i) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const char wrong = static_cast<char>(text[i] ^ 1);
    ASSERT_EQ(::pwrite(file, &wrong, 1, static_cast<off_t>(i)), 1);
    EXPECT_THAT(names(), testing::ElementsAre("one that cannot be read")) << i;
    ASSERT_EQ(::pwrite(file, &text[i], 1, static_cast<off_t>(i)), 1);
    ::close(file);
  }
  EXPECT_THAT(names(), testing::ElementsAre("mine"));
  fs::remove(path);
  EXPECT_THAT(names(), IsEmpty());
  ASSERT_TRUE(session.Renew().ok());
  EXPECT_THAT(names(), testing::ElementsAre("mine"));
}

}  // namespace
}  // namespace galley::store
