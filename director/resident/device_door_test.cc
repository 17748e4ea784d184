#include "director/resident/device_door.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/store/testing/memory_store.h"
#include "common/wire/testing/self_signed.h"
#include "director/serve/device_face/testing/fake_devices.h"
#include "director/serve/device_face/testing/sample_files.h"
#include "director/serve/http/testing/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DeviceDoorOfProjectTest : public testing::Test {
 protected:
  void SetUp() override {
    project_.root = MakeTemporaryDirectory(testing::TempDir(), "devices").value();
    ASSERT_TRUE(CreateDirectories(project_.state_directory()).ok());
    project_.platforms.push_back({.name = "linux"});
    project_.director.http = "127.0.0.1:0";
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(project_.root).ok()); }

  std::unique_ptr<DeviceDoor> Open() {
    auto door = DeviceDoor::Open(project_, store_);
    EXPECT_TRUE(door.ok()) << door.status();
    return door.ok() ? *std::move(door) : nullptr;
  }
  static uint16_t PortOf(const DeviceDoor& door) {
    return ParseWhole<uint16_t>(door.url().substr(door.url().rfind(':') + 1)).value_or(0);
  }
  std::string Refusal() const {
    const absl::Status checked = CheckDeviceDoor(project_);
    return checked.ok() ? "" : MessageOf(checked);
  }
  void UseCertificate() {
    const wire::SelfSigned made = wire::MakeSelfSigned("DNS:localhost,IP:127.0.0.1");
    project_.farm.tls_cert = JoinPath(project_.root, "cert.pem");
    project_.farm.tls_key = JoinPath(project_.root, "key.pem");
    ASSERT_TRUE(WriteFileAtomic(project_.farm.tls_cert, made.certificate).ok());
    ASSERT_TRUE(WriteFileAtomic(project_.farm.tls_key, made.key).ok());
  }

  project::Project project_;
  store::MemoryStore store_;
  FakeDevices devices_;
};

TEST_F(DeviceDoorOfProjectTest, TheUrlIsInAFileAsLongAsTheDoorIsOpen) {
  EXPECT_EQ(DeviceUrl(project_), "");
  const std::unique_ptr<DeviceDoor> door = Open();
  ASSERT_NE(door, nullptr);
  EXPECT_THAT(door->url(), StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(DeviceUrl(project_), door->url());
  door->Close();
  EXPECT_EQ(DeviceUrl(project_), "");
  door->Look();
}

TEST_F(DeviceDoorOfProjectTest, AProjectWithoutAnAddressHasNoDoor) {
  ASSERT_TRUE(WriteFileAtomic(JoinPath(project_.state_directory(), kHttpUrlFile), "left\n").ok());
  project_.director.http.clear();
  EXPECT_EQ(Open(), nullptr);
  EXPECT_EQ(DeviceUrl(project_), "") << "a killed director left it";
}

TEST_F(DeviceDoorOfProjectTest, RequestsAreToldThatTheDirectorStartsUntilItServes) {
  const std::unique_ptr<DeviceDoor> door = Open();
  ASSERT_NE(door, nullptr);
  HttpClient client(PortOf(*door));
  const HttpResponse early = client.Get("/v1/linux/a.txt");
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(early.ValueOf("retry-after"), "1");
  ASSERT_TRUE(store_.Put(Digest::Of("hello"), "hello").ok());
  devices_.Set("linux/a.txt", SampleDeviceFile("hello"));
  door->Serve(devices_);
  EXPECT_EQ(client.Get("/v1/linux/a.txt").body, "hello");
  EXPECT_EQ(door->figures().answers[0], 1u);
}

TEST_F(DeviceDoorOfProjectTest, CallsThatWaitAreCancelledWhenTheDoorCloses) {
  const std::unique_ptr<DeviceDoor> door = Open();
  ASSERT_NE(door, nullptr);
  door->Serve(devices_);
  HttpClient client(PortOf(*door));
  client.Send(GetText("/v1/linux/slow"));
  AwaitOrFail([&] { return devices_.waiting() == 1; }, "the call");
  door->Close();
  EXPECT_EQ(devices_.cancelled(), 1);
  EXPECT_EQ(client.Read().status, 503);
}

TEST_F(DeviceDoorOfProjectTest, AnAddressInUseIsTheMachinesFault) {
  const std::unique_ptr<DeviceDoor> door = Open();
  ASSERT_NE(door, nullptr);
  project_.director.http = door->url().substr(7);
  const auto second = DeviceDoor::Open(project_, store_);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST_F(DeviceDoorOfProjectTest, AddressesAreChecked) {
  EXPECT_EQ(Refusal(), "");
  for (const char* address :
       {"8080", "unix:/tmp/x", "127.0.0.1:x", "127.0.0.1:65536", "localhost"}) {
    project_.director.http = address;
    EXPECT_THAT(Refusal(), HasSubstr("expected HOST:PORT")) << address;
    EXPECT_THAT(Refusal(), HasSubstr(address));
  }
  for (const char* address : {"0.0.0.0:8080", "10.1.2.3:8080", "[::]:8080", "cook.studio:8080"}) {
    project_.director.http = address;
    EXPECT_THAT(Refusal(), HasSubstr("needs TLS and a token")) << address;
  }
  project_.director.http.clear();
  EXPECT_EQ(Refusal(), "");
}

TEST_F(DeviceDoorOfProjectTest, PlatformsWithNamesOfOtherThingsAreRefused) {
  for (const char* name : {"sessions", "page"}) {
    project_.platforms[0].name = name;
    EXPECT_THAT(Refusal(), HasSubstr("`" + std::string(name) + "`"));
    EXPECT_TRUE(absl::IsInvalidArgument(DeviceDoor::Open(project_, store_).status()));
  }
  project_.director.http.clear();
  EXPECT_EQ(Refusal(), "");
}

TEST(DeviceConnectionsTest, OthersHaveHalfOfTheDescriptors) {
  EXPECT_EQ(DeviceConnectionsMax(1'024), 512u);
  EXPECT_EQ(DeviceConnectionsMax(1'048'576), 16'384u);
  EXPECT_EQ(DeviceConnectionsMax(0), 1u);
}

TEST_F(DeviceDoorOfProjectTest, OtherMachinesNeedTlsAndTheToken) {
  UseCertificate();
  project_.director.http = "0.0.0.0:0";
  const std::unique_ptr<DeviceDoor> door = Open();
  ASSERT_NE(door, nullptr);
  door->Serve(devices_);
  EXPECT_THAT(door->url(), StartsWith("https://0.0.0.0:"));
  const auto token = ReadFile(JoinPath(project_.state_directory(), kHttpTokenFile), 100);
  ASSERT_TRUE(token.ok()) << token.status();
  const auto stat = StatFile(JoinPath(project_.state_directory(), kHttpTokenFile));
  EXPECT_EQ(stat->mode & 0777, 0600u);
  devices_.Set("linux/a", SampleRefusal(RefusalKind::kAbsent));
  HttpClient client(PortOf(*door), {.has_tls = true});
  EXPECT_EQ(client.Get("/v1/linux/a").status, 401);
  EXPECT_EQ(client.Get("/v1/linux/a", "Authorization: Bearer x\r\n").status, 401);
  const std::string right = token->substr(0, token->find('\n'));
  EXPECT_EQ(client.Get("/v1/linux/a", "Authorization: Bearer " + right + "\r\n").status, 404);
}

}  // namespace
}  // namespace galley::director
