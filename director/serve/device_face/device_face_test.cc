// The face without sockets: what it asks, and what it answers.
#include "director/serve/device_face/device_face.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/testing/await.h"
#include "common/store/testing/memory_store.h"
#include "director/serve/device_face/request_wishes.h"
#include "director/serve/device_face/testing/fake_devices.h"
#include "director/serve/device_face/testing/sample_files.h"
#include "director/serve/http/http_problem.h"
#include "director/serve/http/testing/request_from_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Asked: a request that was made of a face.
struct Asked {
  base::Mutex mutex;
  std::optional<HttpAnswer> answer GALLEY_GUARDED_BY(mutex);
  std::shared_ptr<HttpExchange> exchange;

  bool has_answer() {
    const base::MutexLock lock(mutex);
    return answer.has_value();
  }
};

class DeviceFaceTest : public testing::Test {
 protected:
  std::shared_ptr<Asked> Begin(const std::string& request) {
    auto asked = std::make_shared<Asked>();
    asked->exchange = std::make_shared<HttpExchange>([asked = asked.get()](HttpAnswer answer) {
      const base::MutexLock lock(asked->mutex);
      asked->answer = std::move(answer);
    });
    face_.Answer(RequestFromText(request), HttpResponder(asked->exchange));
    return asked;
  }
  HttpAnswer Ask(const std::string& request) {
    const auto asked = Begin(request);
    AwaitOrFail([&] { return asked->has_answer(); }, "an answer to " + request);
    const base::MutexLock lock(asked->mutex);
    return asked->answer.value_or(HttpAnswer{.status = 599});
  }
  HttpAnswer Get(const std::string& path, const std::string& fields = "") {
    return Ask("GET " + path + " HTTP/1.1\n" + fields);
  }
  HttpAnswer Post(const std::string& body, const std::string& type = "application/json") {
    auto asked = std::make_shared<Asked>();
    asked->exchange = std::make_shared<HttpExchange>([asked = asked.get()](HttpAnswer answer) {
      const base::MutexLock lock(asked->mutex);
      asked->answer = std::move(answer);
    });
    HttpRequest request = RequestFromText("POST /v1/sessions HTTP/1.1\nContent-Type: " + type +
                                          "\nContent-Length: 0\n");
    request.body = body;
    face_.Answer(std::move(request), HttpResponder(asked->exchange));
    const base::MutexLock lock(asked->mutex);
    return asked->answer.value_or(HttpAnswer{.status = 599});
  }
  DeviceFile Store(const std::string& bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    return SampleDeviceFile(bytes);
  }

  static std::string Text(const HttpAnswer& answer) {
    const auto* const blob = std::get_if<Blob>(&answer.body);
    return blob == nullptr || *blob == nullptr ? "" : **blob;
  }
  static json Problem(const HttpAnswer& answer) {
    EXPECT_EQ(answer.content_type, "application/problem+json");
    return json::parse(Text(answer), nullptr, false);
  }
  static std::string ValueOf(const HttpAnswer& answer, const std::string& name) {
    for (const HttpField& field : answer.fields)
      if (field.name == name) return field.value;
    return "";
  }

  const std::string hex_ = std::string(64, 'a');
  FakeDevices devices_;
  store::MemoryStore store_;
  DeviceFace face_{devices_,
                   std::make_shared<VerifiedBlobs>(store_, VerifiedBlobs::Options{.threads = 1})};
};

// Files.

TEST_F(DeviceFaceTest, AFileOfThePresentWorldIsAskedForAgainEachTime) {
  devices_.Set("linux/Game/a.json", Store("{}"));
  const HttpAnswer answer = Get("/v1/linux/Game/a.json");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(Text(answer), "{}");
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_TRUE(answer.is_codable);
  EXPECT_EQ(answer.caching, HttpCaching::kNoCache);
  ASSERT_TRUE(answer.tag.has_value());
  EXPECT_EQ(*answer.tag, (http::EntityTag{.opaque = "key-" + Digest::Of("{}").hex()}));
  EXPECT_EQ(ValueOf(answer, "Content-Security-Policy"), "sandbox");
  EXPECT_EQ(ValueOf(answer, "Galley-Root"), "");
  // SHA-256 of "{}", in base 64.
  EXPECT_EQ(answer.digest_field, "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:");
}

TEST_F(DeviceFaceTest, TheWaitAndTheKnownTagsOfTheClientAreHandedOn) {
  devices_.Set("linux/a", Store("a"));
  Get("/v1/linux/a", "Prefer: wait=7\nIf-None-Match: \"x\", W/\"y-zstd\"\nAccept-Encoding: zstd\n");
  EXPECT_EQ(devices_.present->platform, "linux");
  EXPECT_EQ(devices_.present->wait_max, absl::Seconds(7));
  EXPECT_THAT(devices_.present->known_tags, ElementsAre("x", "y"));
  Get("/v1/linux/a");
  EXPECT_EQ(devices_.present->wait_max, kAnswerWait);
}

TEST_F(DeviceFaceTest, AKnownFileIsAnsweredWithoutItsBytes) {
  DeviceFile file = SampleDeviceFile("the store lacks it");
  file.is_known = true;
  devices_.Set("linux/a.txt", file);
  const HttpAnswer answer = Get("/v1/linux/a.txt");
  EXPECT_EQ(answer.status, 200);
  const auto& source = std::get<std::shared_ptr<HttpBlobSource>>(answer.body);
  EXPECT_EQ(source->size_bytes(), file.digest.size_bytes());
  std::string bytes(3, '\0');
  EXPECT_FALSE(source->ReadAt(0, {bytes.data(), bytes.size()}).ok());
}

TEST_F(DeviceFaceTest, HeadReadsNoBytesUntilTheDoorNeedsThem) {
  devices_.Set("linux/a.txt", Store("hello"));
  const HttpAnswer answer = Ask("HEAD /v1/linux/a.txt HTTP/1.1\n");
  EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
  const auto& source = std::get<std::shared_ptr<HttpBlobSource>>(answer.body);
  EXPECT_EQ(source->size_bytes(), 5u);
  std::string bytes(3, '\0');
  ASSERT_TRUE(source->ReadAt(1, {bytes.data(), bytes.size()}).ok());
  EXPECT_EQ(bytes, "ell");
}

TEST_F(DeviceFaceTest, AnAnswerToASessionNamesItsRoot) {
  DeviceFile file = Store("a");
  file.root = Digest::Of("root");
  devices_.Set("s1/Game/a", file);
  const HttpAnswer answer = Get("/v1/sessions/s1/Game/a", "Prefer: wait=7\n");
  EXPECT_EQ(ValueOf(answer, "Galley-Root"), Digest::Of("root").ToString());
  EXPECT_EQ(devices_.in_session->wait_max, absl::Seconds(7));
  EXPECT_EQ(devices_.in_session->session, "s1");
}

TEST_F(DeviceFaceTest, TheLastGoodVersionHasItsRootAndNoTag) {
  DeviceFile file = Store("a");
  file.last_good = Digest::Of("older root");
  devices_.Set("s1/Game/a", file);
  const HttpAnswer answer = Get("/v1/sessions/s1/Game/a");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(ValueOf(answer, "Galley-Last-Good"), Digest::Of("older root").ToString());
  EXPECT_FALSE(answer.tag.has_value());
  EXPECT_EQ(answer.caching, HttpCaching::kNoStore);
}

TEST_F(DeviceFaceTest, FilesOfRootsBlobsAndOutputsAreImmutable) {
  DeviceFile file = Store("bytes");
  file.caching = FileCaching::kImmutable;
  const std::string blob = file.digest.ToString();
  devices_.Set(blob, file);
  devices_.Set(hex_ + "/7/Game/changes", file);
  devices_.Set(hex_ + "/7.d/lod1.glb", file);
  devices_.Set(hex_ + "/7", file);
  for (const std::string& path :
       {"/v1/blob/" + blob, "/v1/root/" + hex_ + "/7/Game/changes",
        "/v1/record/" + hex_ + "/7/.d/lod1.glb", "/v1/record/" + hex_ + "/7?suffix="}) {
    const HttpAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(Text(answer), "bytes") << path;
    EXPECT_EQ(answer.caching, HttpCaching::kImmutable) << path;
    EXPECT_EQ(ValueOf(answer, "Content-Security-Policy"), "sandbox") << path;
  }
  EXPECT_EQ(Get("/v1/blob/" + blob).content_type, "application/octet-stream");
  EXPECT_EQ(Get("/v1/record/" + hex_ + "/7/.d/lod1.glb").content_type, "model/gltf-binary");
}

TEST_F(DeviceFaceTest, BytesThatTheStoreLostAreNoAnswer) {
  const DeviceFile lost = SampleDeviceFile("lost");
  devices_.Set(lost.digest.ToString(), lost);
  devices_.Set(hex_ + "/7/a", lost);
  devices_.Set("linux/a", lost);
  EXPECT_EQ(Get("/v1/blob/" + lost.digest.ToString()).status, 404);
  EXPECT_EQ(Get("/v1/root/" + hex_ + "/7/a").status, 410);
  const HttpAnswer answer = Get("/v1/linux/a");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(ValueOf(answer, "Retry-After"), "1");
  // Whoever answers hears of each, so that the next answer names other bytes.
  EXPECT_THAT(devices_.lost(), ElementsAre(lost.digest, lost.digest, lost.digest));
}

// Refusals.

TEST_F(DeviceFaceTest, EachRefusalHasItsStatus) {
  const std::pair<RefusalKind, int> cases[] = {
      {RefusalKind::kInvalid, 400},    {RefusalKind::kAbsent, 404},
      {RefusalKind::kSuperseded, 409}, {RefusalKind::kGone, 410},
      {RefusalKind::kFailed, 422},     {RefusalKind::kInfrastructure, 500},
      {RefusalKind::kNotReady, 503},   {RefusalKind::kDeadline, 504}};
  for (const auto& [kind, status] : cases) {
    devices_.Set("linux/a", SampleRefusal(kind));
    const HttpAnswer answer = Get("/v1/linux/a");
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(Problem(answer)["text"], "This is why.");
    EXPECT_EQ(ValueOf(answer, "Retry-After").empty(), status != 503) << status;
  }
}

TEST_F(DeviceFaceTest, AFailureNamesItsPackageAndItsLog) {
  DeviceRefusal refusal = SampleRefusal(RefusalKind::kFailed);
  refusal.package = "/Game/a.png";
  refusal.log = hex_ + "/12";
  refusal.cause = "verdict";
  devices_.Set("linux/Game/a.png.ktx2", refusal);
  const json problem = Problem(Get("/v1/linux/Game/a.png.ktx2"));
  EXPECT_EQ(problem["package"], "/Game/a.png");
  EXPECT_EQ(problem["log"], hex_ + "/12");
  EXPECT_EQ(problem["cause"], "verdict");
  EXPECT_EQ(problem["title"], "Unprocessable Content");
  EXPECT_FALSE(problem.contains("root"));
}

TEST_F(DeviceFaceTest, ANewerWorldIsNamed) {
  DeviceRefusal refusal = SampleRefusal(RefusalKind::kSuperseded);
  refusal.root = Digest::Of("newer");
  devices_.Set("s1/a", refusal);
  EXPECT_EQ(Problem(Get("/v1/sessions/s1/a"))["root"], Digest::Of("newer").ToString());
}

TEST_F(DeviceFaceTest, AClientIsToldWhenToAskAgain) {
  DeviceRefusal refusal = SampleRefusal(RefusalKind::kNotReady);
  refusal.retry_after = absl::Milliseconds(2'500);
  devices_.Set("linux/a", refusal);
  EXPECT_EQ(ValueOf(Get("/v1/linux/a"), "Retry-After"), "3");
}

TEST_F(DeviceFaceTest, PathsAndMethodsThatAreNotServedAreRefused) {
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/v1/linux").status, 404);
  EXPECT_EQ(Get("/v1/blob/ab/7").status, 400);
  const HttpAnswer list = Get("/v1/sessions");
  EXPECT_EQ(list.status, 405);
  EXPECT_EQ(ValueOf(list, "Allow"), "POST");
  const HttpAnswer file = Ask("DELETE /v1/linux/a HTTP/1.1\n");
  EXPECT_EQ(file.status, 405);
  EXPECT_EQ(ValueOf(file, "Allow"), "GET, HEAD");
  EXPECT_FALSE(devices_.present.has_value());
}

// Clients that wait.

TEST_F(DeviceFaceTest, AClientWaitsForTheCook) {
  const auto asked = Begin("GET /v1/linux/a HTTP/1.1\n");
  EXPECT_FALSE(asked->has_answer());
  devices_.Set("linux/a", Store("cooked"));
  AwaitOrFail([&] { return asked->has_answer(); }, "the cooked file");
  EXPECT_EQ(devices_.cancelled(), 0);
}

TEST_F(DeviceFaceTest, AClientThatLeavesCancelsItsCall) {
  const auto asked = Begin("GET /v1/linux/a HTTP/1.1\n");
  EXPECT_EQ(devices_.waiting(), 1);
  asked->exchange->Leave();
  EXPECT_EQ(devices_.waiting(), 0);
  EXPECT_EQ(devices_.cancelled(), 1);
  devices_.Set("linux/a", Store("cooked"));
  EXPECT_FALSE(asked->has_answer());
}

TEST_F(DeviceFaceTest, ACallThatIsDroppedIsAnswered) {
  const auto asked = Begin("GET /v1/linux/a HTTP/1.1\n");
  devices_.DropWaiting();
  const base::MutexLock lock(asked->mutex);
  ASSERT_TRUE(asked->answer.has_value());
  EXPECT_EQ(asked->answer->status, 500);
}

// Sessions and records.

TEST_F(DeviceFaceTest, ASessionIsOpenedAndHasAPlace) {
  devices_.SetSession(DeviceSessionState{.id = "s1",
                                         .platform = "linux",
                                         .root = Digest::Of("root"),
                                         .newest_root = Digest::Of("root")});
  const HttpAnswer answer = Post(R"({"platform":"linux","last_good":true})");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(ValueOf(answer, "Location"), "/v1/sessions/s1");
  EXPECT_EQ(json::parse(Text(answer))["root"], Digest::Of("root").ToString());
  EXPECT_EQ(devices_.asked->platform, "linux");
  EXPECT_TRUE(devices_.asked->last_good);
  EXPECT_EQ(answer.caching, HttpCaching::kNoStore);
}

TEST_F(DeviceFaceTest, AsksForSessionsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(Post("{}").status, 400);
  EXPECT_EQ(Post(R"({"platform":"linux"})", "text/plain").status, 415);
  EXPECT_FALSE(devices_.asked.has_value());
  devices_.SetSession(SampleRefusal(RefusalKind::kNotReady));
  EXPECT_EQ(Post(R"({"platform":"linux"})", "Application/JSON; charset=utf-8").status, 503);
}

TEST_F(DeviceFaceTest, ASessionIsRenewedAndClosed) {
  devices_.SetSession(DeviceSessionState{.id = "s1", .root = Digest::Of("root")});
  const HttpAnswer renewed = Get("/v1/sessions/s1");
  EXPECT_EQ(renewed.status, 200);
  EXPECT_TRUE(json::parse(Text(renewed))["newest_root"].is_null());
  EXPECT_EQ(ValueOf(renewed, "Location"), "");
  EXPECT_EQ(Ask("DELETE /v1/sessions/s1 HTTP/1.1\n").status, 204);
  EXPECT_THAT(devices_.closed, ElementsAre("s1"));
  devices_.SetSession(SampleRefusal(RefusalKind::kAbsent));
  EXPECT_EQ(Get("/v1/sessions/s1").status, 404);
  EXPECT_EQ(Ask("DELETE /v1/sessions/s1 HTTP/1.1\n").status, 404);
}

TEST_F(DeviceFaceTest, ChangesGoOnBehindTheLastEvent) {
  const HttpAnswer answer = Get("/v1/sessions/s1/changes", "Last-Event-ID: 3-17\n");
  EXPECT_EQ(answer.content_type, "text/event-stream");
  EXPECT_EQ(devices_.last_id, "3-17");
  const auto& stream = std::get<std::shared_ptr<HttpEventStream>>(answer.body);
  devices_.Push({.id = {.term = 3, .number = 18}, .world = 4});
  EXPECT_THAT(stream->TakeEvents(1'000).value_or(""), HasSubstr("id: 3-18\n"));
  devices_.RefuseChanges(SampleRefusal(RefusalKind::kAbsent));
  EXPECT_EQ(Get("/v1/sessions/s1/changes").status, 404);
  EXPECT_EQ(devices_.last_id, std::nullopt);
}

TEST_F(DeviceFaceTest, TheDifferenceOfTwoRootsIsTheSameForEver) {
  const Digest older = Digest::Of("older"), newer = Digest::Of("newer");
  const std::string target = "/v1/root/" + newer.ToString() + "?since=" + older.ToString();
  devices_.SetDifference(RootDifference{.stale = {"Game/a"}});
  const HttpAnswer answer = Get(target);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(Text(answer)), json({{"stale", {"Game/a"}}}));
  EXPECT_EQ(answer.caching, HttpCaching::kImmutable);
  EXPECT_EQ(devices_.compared, std::pair(older, newer));
  devices_.SetDifference(SampleRefusal(RefusalKind::kGone));
  EXPECT_EQ(Get(target).status, 410);
}

TEST_F(DeviceFaceTest, ARecordHasATagOfItsText) {
  const Digest key = Digest::Of("key");
  devices_.SetRecord(DeviceRecord{
      .action_key = key, .outputs = {{.suffix = ".ktx2", .digest = Digest::Of("output")}}});
  const HttpAnswer answer = Get("/v1/record/" + key.ToString());
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(Text(answer))["outputs"][0]["suffix"], ".ktx2");
  EXPECT_TRUE(answer.tag.has_value());
  EXPECT_EQ(answer.caching, HttpCaching::kNoCache);
  devices_.SetRecord(SampleRefusal(RefusalKind::kAbsent));
  EXPECT_EQ(Get("/v1/record/" + key.ToString()).status, 404);
}

}  // namespace
}  // namespace galley::director
