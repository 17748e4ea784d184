// The face behind its door: what comes over a socket.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "director/serve/device_face/device_face.h"
#include "director/serve/device_face/testing/fake_devices.h"
#include "director/serve/device_face/testing/sample_files.h"
#include "director/serve/http/http_door.h"
#include "director/serve/http/testing/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;

class DeviceDoorTest : public testing::Test {
 protected:
  DeviceDoorTest() {
    auto door = HttpDoor::Open({.address = "127.0.0.1:0"}, face_, clock_);
    GALLEY_CHECK(door.ok());
    door_ = *std::move(door);
  }
  uint16_t port() const {
    const std::string& address = door_->address();
    return ParseWhole<uint16_t>(address.substr(address.rfind(':') + 1)).value_or(0);
  }
  std::string Put(const std::string& path, const std::string& bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    const DeviceFile file = SampleDeviceFile(bytes);
    devices_.Set(path, file);
    return file.tag;
  }

  ManualClock clock_;
  store::MemoryStore store_;
  FakeDevices devices_;
  DeviceFace face_{devices_, std::make_shared<VerifiedBlobs>(store_, VerifiedBlobs::Options{})};
  std::unique_ptr<HttpDoor> door_;
};

TEST_F(DeviceDoorTest, AFileHasItsFields) {
  const std::string tag = Put("linux/Game/a.ktx2", "hello");
  HttpClient client(port());
  const HttpResponse response = client.Get("/v1/linux/Game/a.ktx2");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.ValueOf("etag"), "\"" + tag + "\"");
  EXPECT_EQ(response.ValueOf("cache-control"), "no-cache");
  EXPECT_EQ(response.ValueOf("content-type"), "image/ktx2");
  EXPECT_EQ(response.ValueOf("content-security-policy"), "sandbox");
  EXPECT_EQ(response.ValueOf("x-content-type-options"), "nosniff");
  EXPECT_THAT(response.ValueOf("repr-digest").value_or(""), HasSubstr("sha-256=:"));
}

TEST_F(DeviceDoorTest, HeadRangesAndKnownTagsCostNoMoreThanTheyNeed) {
  const std::string tag = Put("linux/a.ktx2", "hello");
  HttpClient client(port());
  client.Send("HEAD" + GetText("/v1/linux/a.ktx2").substr(3));
  EXPECT_EQ(client.Read(/*has_body=*/false).ValueOf("content-length"), "5");
  const HttpResponse part = client.Get("/v1/linux/a.ktx2", "Range: bytes=1-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "ell");
  const HttpResponse known = client.Get("/v1/linux/a.ktx2", "If-None-Match: \"" + tag + "\"\r\n");
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
}

TEST_F(DeviceDoorTest, AKnownFileIs304ThoughTheStoreLacksIt) {
  DeviceFile file = SampleDeviceFile(std::string(1'000, 'x'));
  file.is_known = true;
  devices_.Set("linux/a.txt", file);
  HttpClient client(port());
  EXPECT_EQ(client.Get("/v1/linux/a.txt", "If-None-Match: \"" + file.tag + "\"\r\n").status, 304);
  const HttpResponse coded = client.Get("/v1/linux/a.txt",
                                        "Accept-Encoding: zstd\r\n"
                                        "If-None-Match: W/\"" +
                                            file.tag + "-zstd\"\r\n");
  EXPECT_EQ(coded.status, 304);
  EXPECT_EQ(coded.ValueOf("etag"), "W/\"" + file.tag + "-zstd\"");
}

TEST_F(DeviceDoorTest, AClientThatClosesCancelsItsCook) {
  {
    HttpClient client(port());
    client.Send(GetText("/v1/linux/slow"));
    AwaitOrFail([&] { return devices_.waiting() == 1; }, "the call");
    client.Close();
    AwaitOrFail([&] { return devices_.cancelled() == 1; }, "the cancelled call");
  }
}

TEST_F(DeviceDoorTest, ChangesComeOneByOneAndEndWithTheClient) {
  HttpClient client(port());
  client.Send(GetText("/v1/sessions/s1/changes"));
  const std::string begin = client.ReadUntil("retry: 1000\n\n");
  EXPECT_THAT(begin, HasSubstr("X-Accel-Buffering: no\r\n"));
  EXPECT_THAT(begin, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(begin, HasSubstr("Cache-Control: no-store\r\n"));
  devices_.Push({.id = {.term = 3, .number = 1}, .world = 4, .stale = {"Game/a"}});
  EXPECT_THAT(client.ReadUntil("\"world\":4}\n\n"), HasSubstr("id: 3-1\nevent: change\n"));
  client.Close();
  AwaitOrFail(
      [&] {
        const base::MutexLock lock(devices_.events->mutex);
        return !devices_.events->has_reader;
      },
      "the end of the stream");
}

TEST_F(DeviceDoorTest, NothingOutsideOfTheTreeHasAName) {
  Put("linux/etc/passwd", "no secret");
  HttpClient client(port());
  for (const char* path : {"/v1/linux/../../etc/passwd", "/v1/linux/%2e%2e/etc/passwd",
                           "/v1/linux/a%2fb", "/v1/linux/a%5cb", "/v1/linux/a%00b", "/v1/linux//a",
                           "/v1/linux/%c0%ae%c0%ae/a", "/v1/linux/a/.", "/v1/linux/a/"})
    EXPECT_EQ(client.Get(path).status, 400) << path;
  // Decoded once: what was escaped twice is a name like others.
  Put("linux/%2e%2e/a", "odd");
  EXPECT_EQ(client.Get("/v1/linux/%252e%252e/a").body, "odd");
}

}  // namespace
}  // namespace galley::director
