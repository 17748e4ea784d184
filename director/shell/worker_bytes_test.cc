#include "director/shell/worker_bytes.h"

#include <sys/stat.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "director/shell/shell_test_world.h"
#include "director/shell/trace.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr AttemptId kOwn = 41, kOfOthers = 42, kOfPrograms = 43;

// Fetched: the answer for one item.
struct Fetched {
  std::string bytes;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string error;
  std::optional<Digest> digest;
  std::vector<v1::FoundThere> found;
  bool is_left_out = false;
  bool is_absent = false, is_executable = false;
};

class WorkerBytesTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a.txt", "source");
    Write("content/large.txt", large_);
    ASSERT_TRUE(WriteFileAtomic(JoinPath(dir_, "snapshot-1.table"), "table").ok());
    ASSERT_TRUE(WriteFileAtomic(JoinPath(dir_, "farm-token"), "secret").ok());
    holder_ = std::make_unique<WorldHolder>(MakeWorld());
    reader_ = std::make_unique<ReportReader>(
        ReportReader::Deps{.sources = [this] { return SourcesOf(holder_->Get()); },
                           .store = &store_,
                           .results = &results_,
                           .trace = &trace_},
        "main", DefaultLimits{4 << 20, absl::Minutes(1)});
    for (const auto& [attempt, worker] :
         std::map<AttemptId, std::string>{{kOwn, "node"}, {kOfOthers, "other"}}) {
      AttemptInfo info{.name = "/Game/a.txt", .generated_source = Digest::Of("given")};
      info.worker = worker;
      reader_->Register(attempt, std::make_shared<AttemptInfo>(info));
    }
    auto recipes = std::make_shared<project::ResolvedRecipes>(1);
    recipes->front().recipe = {.cooker = "command",
                               .identity = "1",
                               .extension = "txt",
                               .settings = R"({"argv":["./tools/bake","{input}"]})"};
    AttemptInfo of_programs{.name = "/Game/a.txt"};
    of_programs.worker = "node";
    of_programs.platforms = MaskOf(0);
    of_programs.recipes = recipes;
    reader_->Register(kOfPrograms, std::make_shared<AttemptInfo>(of_programs));
    bytes_ = std::make_unique<WorkerBytes>(
        WorkerBytes::Deps{.world = holder_.get(),
                          .reports = reader_.get(),
                          .store = &store_,
                          .sources = [this] { return SourcesOf(holder_->Get()); },
                          .state_directory = dir_,
                          .uploads = {.bytes_max = 1'000'000, .blobs_max = 4}});
    for (const char* blob : {"given", "foreign"})
      ASSERT_TRUE(store_.Put(Digest::Of(blob), blob).ok());
  }

  static v1::FetchItem File(const std::string& path, uint64_t bytes_max = UINT64_MAX) {
    v1::FetchItem item;
    item.set_attempt(kOwn);
    item.set_path(path);
    item.set_bytes_max(bytes_max);
    return item;
  }
  static v1::FetchItem BlobOf(const std::string& bytes) {
    v1::FetchItem item;
    item.set_attempt(kOwn);
    wire::ToProto(Digest::Of(bytes), item.mutable_blob());
    return item;
  }
  static v1::FetchItem Table(const std::string& name) {
    v1::FetchItem item;
    item.set_table(name);
    return item;
  }

  static v1::FetchItem Tool(const std::string& path, AttemptId attempt = kOfPrograms) {
    v1::FetchItem item;
    item.set_attempt(attempt);
    item.set_tool(path);
    return item;
  }
  static v1::FetchItem ToolBytes(const std::string& path, const std::string& bytes) {
    v1::FetchItem item = Tool(path);
    wire::ToProto(Digest::Of(bytes), item.mutable_digest());
    return item;
  }

  std::vector<Fetched> Fetch(const std::vector<v1::FetchItem>& items) {
    v1::FetchRequest request;
    *request.mutable_items() = {items.begin(), items.end()};
    std::vector<Fetched> fetched(items.size());
    std::vector<bool> has_ended(items.size());
    const absl::Status status = bytes_->Fetch("node", request, [&](const v1::FetchPiece& piece) {
      Fetched& one = fetched.at(piece.item());
      EXPECT_FALSE(has_ended.at(piece.item()));
      one.bytes += piece.bytes();
      has_ended[piece.item()] = piece.is_last();
      one.code = static_cast<absl::StatusCode>(piece.code());
      one.error = piece.error();
      one.is_left_out = piece.is_left_out();
      one.is_absent = piece.is_absent();
      one.is_executable = piece.is_executable();
      one.found.assign(piece.found().begin(), piece.found().end());
      if (piece.has_digest()) one.digest = *wire::FromProto(piece.digest());
      return true;
    });
    EXPECT_TRUE(status.ok()) << status;
    for (const bool one : has_ended) EXPECT_TRUE(one);
    return fetched;
  }

  // Uploads in pieces of three bytes.
  absl::StatusOr<uint64_t> Upload(const std::vector<std::pair<std::string, std::string>>& blobs,
                                  const std::string& worker = "node") {
    std::deque<v1::UploadPiece> pieces;
    for (const auto& [bytes, instead] : blobs) {
      for (size_t at = 0; at == 0 || at < instead.size(); at += 3) {
        v1::UploadPiece& piece = pieces.emplace_back();
        if (at == 0) wire::ToProto(Digest::Of(bytes), piece.mutable_digest());
        piece.set_bytes(instead.substr(at, 3));
      }
    }
    return bytes_->Upload(worker, [&](v1::UploadPiece& piece) {
      if (pieces.empty()) return false;
      piece = std::move(pieces.front());
      pieces.pop_front();
      return true;
    });
  }

  const std::string large_ = std::string(700'000, 'x');
  std::unique_ptr<WorldHolder> holder_;
  WatchedStore store_;
  ResultTable results_;
  Trace trace_;
  std::unique_ptr<ReportReader> reader_;
  std::unique_ptr<WorkerBytes> bytes_;
};

TEST_F(WorkerBytesTest, FilesBlobsAndTablesComeInTheOrderOfTheItems) {
  const auto fetched = Fetch({File("/Game/a.txt"), BlobOf("given"), Table("snapshot-1.table")});
  EXPECT_EQ(fetched[0].bytes, "source");
  EXPECT_EQ(fetched[0].digest, Digest::Of("source"));
  EXPECT_EQ(fetched[1].bytes, "given");
  EXPECT_EQ(fetched[2].bytes, "table");
  EXPECT_EQ(holder_->Get()->snapshot->KnownDigest("/Game/a.txt"), Digest::Of("source"))
      << "it was hashed on the way";
}

// The blob belongs to a package that was loaded here and whose results are not committed yet. The
// second blob is too large to be held in memory.
TEST_F(WorkerBytesTest, WhatAWorkerOfThisMachineWroteIsGivenBeforeAResultNamesIt) {
  const std::string store_directory = JoinPath(dir_, "store");
  const auto store = *store::OpenLocalStore(store_directory);
  const auto writer = *store::SegmentWriter::Open(store_directory, *store->AllocateSegment());
  AttemptInfo loads{.name = "/Game/a.txt"};
  loads.worker = "local-1";
  loads.hashes_files = true;
  reader_->Register(44, std::make_shared<AttemptInfo>(loads));
  WorkerBytes bytes({.world = holder_.get(),
                     .reports = reader_.get(),
                     .store = store.get(),
                     .sources = [this] { return SourcesOf(holder_->Get()); },
                     .state_directory = dir_});
  AttemptId attempt = 45;
  for (const std::string& text : {std::string("found"), std::string(5 << 20, 'x')}) {
    ++attempt;
    const auto [digest, location] = *writer->Append(text);
    AttemptInfo cooks{.name = "/Game/a.txt", .generated_source = digest};
    cooks.worker = "node";
    reader_->Register(attempt, std::make_shared<AttemptInfo>(cooks));
    v1::FetchRequest request;
    *request.add_items() = BlobOf(text);
    request.mutable_items(0)->set_attempt(attempt);
    const auto fetch = [&] {
      Fetched fetched;
      const absl::Status status = bytes.Fetch("node", request, [&](const v1::FetchPiece& piece) {
        fetched.bytes += piece.bytes();
        fetched.code = static_cast<absl::StatusCode>(piece.code());
        return true;
      });
      EXPECT_TRUE(status.ok()) << status;
      return fetched;
    };
    EXPECT_EQ(fetch().code, absl::StatusCode::kNotFound) << "nobody said where it lies";
    v1::Report report;
    report.set_attempt(44);
    report.mutable_loaded()->set_details(record::EncodeDetails({}));
    wire::ToProto(digest, location, report.mutable_loaded()->add_blobs());
    reader_->Read("local-1", report);
    EXPECT_TRUE(fetch().bytes == text);
    ASSERT_TRUE(store->FindMissing(std::span(&digest, 1)).ok());
    EXPECT_THAT(*store->FindMissing(std::span(&digest, 1)), SizeIs(1)) << "it is in no commit";
  }
}

TEST_F(WorkerBytesTest, OfAFileThatIsTooLargeOnlyTheDigestIsTold) {
  const auto fetched = Fetch({File("/Game/large.txt", 1'000), File("/Game/large.txt")});
  EXPECT_TRUE(fetched[0].is_left_out);
  EXPECT_EQ(fetched[0].bytes, "");
  EXPECT_EQ(fetched[0].digest, Digest::Of(large_));
  EXPECT_EQ(fetched[1].bytes, large_);
}

TEST_F(WorkerBytesTest, AFileThatIsAnotherOneIsStale) {
  v1::FetchItem other = File("/Game/a.txt"), of_size = File("/Game/a.txt");
  wire::ToProto(Digest::Of("something else"), other.mutable_digest());
  wire::ToProto(Digest::Of("SOURCE"), of_size.mutable_digest());
  for (const Fetched& one : Fetch({other, of_size, File("/Game/gone.txt")}))
    EXPECT_EQ(one.code, absl::StatusCode::kAborted) << one.error;
  Write("content/a.txt", "changed");  // since the snapshot
  EXPECT_EQ(Fetch({File("/Game/a.txt")})[0].code, absl::StatusCode::kAborted);
}

TEST_F(WorkerBytesTest, AWorkerGetsOnlyWhatItsOwnAttemptsMaySee) {
  v1::FetchItem of_others = File("/Game/a.txt"), unknown = File("/Game/a.txt");
  of_others.set_attempt(kOfOthers);
  unknown.set_attempt(77);
  for (const Fetched& one : Fetch({of_others, unknown, BlobOf("foreign")})) {
    EXPECT_EQ(one.code, absl::StatusCode::kPermissionDenied);
    EXPECT_EQ(one.bytes, "");
  }
  for (const char* name : {"farm-token", "../snapshot-1.table", "snapshot-/../farm-token.table"})
    EXPECT_EQ(Fetch({Table(name)})[0].code, absl::StatusCode::kInvalidArgument) << name;
  EXPECT_NE(Fetch({v1::FetchItem()})[0].code, absl::StatusCode::kOk);
  EXPECT_NE(Fetch({File("/Game/../../etc/passwd")})[0].code, absl::StatusCode::kOk);
}

TEST_F(WorkerBytesTest, OfToolsTheDigestsAreToldAndOfTheProgramTheBytes) {
  Write("tools/bake", "#!/bin/sh");
  Write("tools/library", "text");
  ASSERT_EQ(::chmod(Host("tools/bake").c_str(), 0755), 0);
  const auto told = Fetch({Tool("tools/bake"), Tool("tools/library"), Tool("tools/none"),
                           Tool("/usr/none"), ToolBytes("tools/bake", "#!/bin/sh")});
  EXPECT_EQ(told[0].digest, Digest::Of("#!/bin/sh"));
  EXPECT_TRUE(told[0].is_executable);
  EXPECT_EQ(told[0].bytes, "");
  EXPECT_EQ(told[1].digest, Digest::Of("text"));
  EXPECT_FALSE(told[1].is_executable);
  for (const size_t none : {2u, 3u}) EXPECT_TRUE(told[none].is_absent && !told[none].digest);
  EXPECT_EQ(told[4].bytes, "#!/bin/sh");
  EXPECT_EQ(told[4].digest, Digest::Of("#!/bin/sh"));
  EXPECT_EQ(Fetch({ToolBytes("tools/bake", "another")})[0].code, absl::StatusCode::kAborted);
}

TEST_F(WorkerBytesTest, NothingElseIsToldAndNothingElseGiven) {
  Write("tools/library", "text");
  Write(".galley/state/farm-token", "secret");
  Write("tools/.env", "secret");
  Write("other/key.pem", "secret");
  for (const v1::FetchItem& item :
       {Tool(".galley/state/farm-token"), Tool("./.galley/state/farm-token"), Tool("tools/.env"),
        Tool("../x"), Tool("tools/../../x"), Tool(Host("other/key.pem")), Tool("/root/.ssh/id"),
        Tool("/usr/../root/x"), Tool(""), Tool("tools/library", kOwn),
        Tool("tools/library", kOfOthers), ToolBytes("tools/library", "text"),
        ToolBytes("/bin/sh", "text")}) {
    const Fetched one = Fetch({item})[0];
    EXPECT_EQ(one.code, absl::StatusCode::kPermissionDenied) << item.tool();
    EXPECT_FALSE(one.digest.has_value()) << item.tool();
    EXPECT_EQ(one.bytes, "") << item.tool();
  }
}

TEST_F(WorkerBytesTest, WhatAProgramFindsIsComparedWithoutBytes) {
  Write("tools/bake", "#!/bin/sh");
  Write("tools/.env", "secret");
  Write("content/.hidden", "secret");
  ASSERT_TRUE(CreateDirectories(Host("content/empty")).ok());
  v1::FetchItem item;
  item.set_attempt(Tool("tools/bake").attempt());
  const auto look = [&](const std::string& path, bool is_opened) {
    v1::ProgramLook& added = *item.mutable_looks()->add_looks();
    added.set_path(path);
    added.set_is_opened(is_opened);
  };
  using There = v1::FoundThere;
  std::vector<There::Kind> kinds;
  for (const auto& [path, kind] :
       std::vector<std::pair<std::string, There::Kind>>{{"tools/bake", There::FILE},
                                                        {"tools", There::FOLDER},
                                                        {"tools/none", There::ABSENT},
                                                        {"/usr/none", There::ABSENT},
                                                        {"/usr/bin/env", There::FILE},
                                                        {Host("content/.hidden"), There::FILE},
                                                        {Host("content/empty"), There::FOLDER},
                                                        {Host("content/none"), There::ABSENT},
                                                        {"tools/.env", There::NOT_TOLD},
                                                        {"../x", There::NOT_TOLD},
                                                        {"tools/../tools/bake", There::NOT_TOLD},
                                                        {"/root/.ssh/id", There::NOT_TOLD},
                                                        {Host("other"), There::NOT_TOLD},
                                                        {"", There::NOT_TOLD}}) {
    kinds.push_back(kind);
    look(path, true);
  }
  const std::vector<v1::FoundThere> found = Fetch({item})[0].found;
  ASSERT_EQ(found.size(), kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(found[i].kind(), kinds[i]) << item.looks().looks(static_cast<int>(i)).path();
    const bool has_digest = i == 0 || i == 1 || i == 4 || i == 6;
    EXPECT_EQ(found[i].has_digest(), has_digest) << item.looks().looks(static_cast<int>(i)).path();
  }
  EXPECT_EQ(*wire::FromProto(found[0].digest()), Digest::Of("#!/bin/sh"));
  EXPECT_EQ(*wire::FromProto(found[6].digest()), Digest::Of(""));
  item.mutable_looks()->mutable_looks(0)->set_is_opened(false);
  EXPECT_FALSE(Fetch({item})[0].found[0].has_digest());
  for (const uint64_t attempt : {kOwn, kOfOthers}) {
    item.set_attempt(attempt);
    EXPECT_EQ(Fetch({item})[0].code, absl::StatusCode::kPermissionDenied);
  }
  item.set_attempt(Tool("tools/bake").attempt());
  for (int i = 0; i < WorkerBytes::kLooksMax; ++i) look("/usr/none", false);
  EXPECT_EQ(Fetch({item})[0].code, absl::StatusCode::kInvalidArgument);
}

TEST_F(WorkerBytesTest, ACallOfTooManyItemsIsRefused) {
  v1::FetchRequest request;
  for (int i = 0; i <= WorkerBytes::kItemsMax; ++i) *request.add_items() = File("/Game/a.txt");
  EXPECT_TRUE(absl::IsInvalidArgument(
      bytes_->Fetch("node", request, [](const v1::FetchPiece&) { return true; })));
}

TEST_F(WorkerBytesTest, AWorkerThatHangsUpEndsTheCall) {
  v1::FetchRequest request;
  *request.add_items() = File("/Game/large.txt");
  *request.add_items() = File("/Game/a.txt");
  int sent = 0;
  EXPECT_FALSE(bytes_
                   ->Fetch("node", request,
                           [&](const v1::FetchPiece&) {
                             ++sent;
                             return false;
                           })
                   .ok());
  EXPECT_EQ(sent, 1);
}

TEST_F(WorkerBytesTest, OnlyWhatTheStoreLacksIsAskedFor) {
  ASSERT_TRUE(Upload({{"there", "there"}}).ok());
  v1::FindMissingRequest request;
  for (const char* bytes : {"there", "not there"})
    wire::ToProto(Digest::Of(bytes), request.add_digests());
  const auto answer = bytes_->FindMissing(request);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->missing_size(), 1);
  EXPECT_EQ(*wire::FromProto(answer->missing(0)), Digest::Of("not there"));
  request.mutable_digests(0)->set_hash("no digest");
  EXPECT_TRUE(absl::IsInvalidArgument(bytes_->FindMissing(request).status()));
  request.clear_digests();
  for (int i = 0; i <= WorkerBytes::kDigestsMax; ++i)
    wire::ToProto(Digest::Of("there"), request.add_digests());
  EXPECT_TRUE(absl::IsInvalidArgument(bytes_->FindMissing(request).status()));
}

TEST_F(WorkerBytesTest, UploadsAreStoredUnderTheirOwnDigests) {
  EXPECT_EQ(Upload({{"outputs", "outputs"}, {"given", "given"}, {"", ""}}).value_or(0), 7u)
      << "one was there";
  EXPECT_EQ(**store_.Get(Digest::Of("outputs")), "outputs");
  EXPECT_EQ(Upload({{large_, large_}}).value_or(0), large_.size());
}

TEST_F(WorkerBytesTest, OtherBytesThanTheDigestSaysAreRefused) {
  for (const char* instead : {"other", "longer than it should be", "x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Upload({{"right", instead}}).status())) << instead;
    EXPECT_THAT(*store_.FindMissing({{Digest::Of("right")}}), SizeIs(1)) << instead;
  }
  v1::UploadPiece piece;
  piece.set_bytes("of nothing");
  bool has_more = true;
  EXPECT_TRUE(absl::IsInvalidArgument(bytes_
                                          ->Upload("node",
                                                   [&](v1::UploadPiece& next) {
                                                     next = piece;
                                                     return std::exchange(has_more, false);
                                                   })
                                          .status()));
}

TEST_F(WorkerBytesTest, AWorkerWithoutJobsBringsNothing) {
  EXPECT_TRUE(absl::IsPermissionDenied(Upload({{"right", "right"}}, "stranger").status()));
  EXPECT_THAT(*store_.FindMissing({{Digest::Of("right")}}), SizeIs(1));
  EXPECT_TRUE(Upload({{"right", "right"}}, "other").ok());
  reader_->ForgetUnless([](AttemptId attempt) { return attempt != kOfOthers; });
  EXPECT_TRUE(absl::IsPermissionDenied(Upload({{"late", "late"}}, "other").status()));
}

TEST_F(WorkerBytesTest, WhatNoResultNamesIsBoundedAndWhatIsOverIsNotKept) {
  const std::string more(400'000, 'y');
  ASSERT_TRUE(Upload({{large_, large_}}).ok());
  const absl::Status over = Upload({{more, more}}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(over));
  EXPECT_THAT(std::string(over.message()),
              HasSubstr("node has uploaded 683.6 KiB in 1 blob that no result of its names"));
  EXPECT_THAT(*store_.FindMissing({{Digest::Of(more)}}), SizeIs(1));
  EXPECT_TRUE(Upload({{more, more}}, "other").ok()) << "each worker has its own";
  EXPECT_TRUE(Upload({{large_, large_}}).ok()) << "what is there already costs nothing";
  // Wrong bytes are given back.
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(absl::IsInvalidArgument(Upload({{"right", "wrong"}}).status()));
  // A result of another worker frees nothing; a result of the worker itself does.
  WorkerReport loaded{.report = 1, .attempt = kOwn, .what = WorkerReport::Ended{}};
  auto view = std::make_shared<ResultView>();
  view->generated.push_back({.name = "_gen/a", .source = Digest::Of(large_)});
  loaded.what = WorkerReport::Loaded{.platforms = 1, .so_far = view};
  const std::string third(500'000, 'z');
  bytes_->NoteReport("other", loaded, results_);
  EXPECT_TRUE(absl::IsResourceExhausted(Upload({{third, third}}).status()));
  bytes_->NoteReport("node", loaded, results_);
  EXPECT_TRUE(Upload({{third, third}}).ok());
}

TEST_F(WorkerBytesTest, WhatAnAttemptUploadedThatFailedIsCountedNoMoreWhenItIsOver) {
  bytes_->NoteGiven("node", kOwn);
  ASSERT_TRUE(Upload({{large_, large_}}).ok());
  const std::string next(900'000, 'z');
  WorkerReport failed{.report = 1, .attempt = kOwn, .what = WorkerReport::Failed{}};
  bytes_->NoteReport("node", failed, results_);
  EXPECT_TRUE(absl::IsResourceExhausted(Upload({{next, next}}).status()));
  bytes_->NoteReport("node", {.report = 2, .attempt = kOwn, .what = WorkerReport::Ended{}},
                     results_);
  EXPECT_TRUE(Upload({{next, next}}).ok());
}

TEST_F(WorkerBytesTest, TheOutputsThatASaveNamesAreCountedNoMore) {
  ASSERT_TRUE(Upload({{large_, large_}}).ok());
  auto stored = std::make_shared<StoredResult>();
  stored->result.outputs = {{"", Digest::Of(large_)}};
  WorkerReport saved{.report = 1, .attempt = kOwn, .what = WorkerReport::Ended{}};
  saved.what = WorkerReport::Saved{.platform = 0, .result = results_.Add(std::move(stored))};
  bytes_->NoteReport("node", saved, results_);
  const std::string next(900'000, 'z');
  EXPECT_TRUE(Upload({{next, next}}).ok());
}

TEST_F(WorkerBytesTest, AStoreWithoutRoomSaysSo) {
  store_.put_error = absl::ResourceExhaustedError("full");
  EXPECT_TRUE(absl::IsResourceExhausted(Upload({{"right", "right"}}).status()));
}

}  // namespace
}  // namespace galley::director
