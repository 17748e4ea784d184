#include "director/serve/device_face/device_target.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

const std::string kHex(64, 'a');

absl::StatusOr<DeviceTarget> Read(const std::string& target) {
  const auto parsed = http::ParseRequestTarget(target);
  GALLEY_CHECK(parsed.ok());
  return ReadDeviceTarget(*parsed);
}

Digest Named(uint64_t size) { return *Digest::Parse(kHex + "/" + std::to_string(size)); }

TEST(DeviceTargetTest, EachRowOfTheTableHasItsTarget) {
  const std::vector<std::pair<std::string, DeviceTarget>> cases = {
      {"/v1/linux/Game/a.png.ktx2", PresentTarget{"linux", "Game/a.png.ktx2"}},
      {"/v1/a-b_2/x", PresentTarget{"a-b_2", "x"}},
      {"/v1/linux/a%20b/c", PresentTarget{"linux", "a b/c"}},
      {"/v1/linux/changes", PresentTarget{"linux", "changes"}},
      {"/v1/root/" + kHex + "/7/Game/changes", RootTarget{Named(7), "Game/changes"}},
      {"/v1/root/" + kHex + "/7/changes", RootTarget{Named(7), "changes"}},
      {"/v1/root/" + kHex + "/7?since=" + kHex + "/8", DifferenceTarget{Named(7), Named(8)}},
      {"/v1/root/" + kHex + "/7?since=" + kHex + "%2F8", DifferenceTarget{Named(7), Named(8)}},
      {"/v1/blob/" + kHex + "/7", BlobTarget{Named(7)}},
      {"/v1/record/" + kHex + "/7", RecordTarget{Named(7)}},
      {"/v1/record/" + kHex + "/7/.d/lod1.glb", OutputTarget{Named(7), ".d/lod1.glb"}},
      {"/v1/record/" + kHex + "/7?suffix=", OutputTarget{Named(7), ""}},
      {"/v1/record/" + kHex + "/7?x=1", RecordTarget{Named(7)}},
      {"/v1/sessions", SessionsTarget{}},
      {"/v1/sessions/s1", SessionTarget{"s1"}},
      {"/v1/sessions/s1/changes", ChangesTarget{"s1"}},
      {"/v1/sessions/s1/changes/a", SessionFileTarget{"s1", "changes/a"}},
      {"/v1/sessions/s1/Game/changes", SessionFileTarget{"s1", "Game/changes"}},
  };
  for (const auto& [text, target] : cases) {
    const auto read = Read(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_TRUE(*read == target) << text;
  }
}

TEST(DeviceTargetTest, OtherPathsAreNotThere) {
  for (const std::string text :
       {"/", "/v1", "/v2/linux/a", "/v1/linux", "/v1/Linux/a", "/v1/.a/b", "/v1/-a/b", "/v1/root",
        "/v1/blob", "/v1/record", "/page", "/favicon.ico"})
    EXPECT_TRUE(absl::IsNotFound(Read(text).status())) << text;
  EXPECT_TRUE(absl::IsNotFound(Read("/v1/root/" + kHex + "/7").status()));
  EXPECT_TRUE(absl::IsNotFound(Read("/v1/root/" + kHex + "/7?x=1").status()));
  EXPECT_TRUE(absl::IsNotFound(Read("/v1/blob/" + kHex + "/7/a").status()));
  EXPECT_TRUE(absl::IsNotFound(Read("/v1/record/" + kHex).status()));
}

TEST(DeviceTargetTest, MalformedDigestsAreInvalid) {
  const std::string upper(64, 'A');
  const std::vector<std::string> ends = {upper + "/7", kHex + "/07",
                                         kHex + "/-1", kHex + "/x",
                                         "ab/7",       kHex + "/99999999999999999999"};
  for (const std::string& end : ends) {
    EXPECT_TRUE(absl::IsInvalidArgument(Read("/v1/blob/" + end).status())) << end;
    EXPECT_TRUE(absl::IsInvalidArgument(Read("/v1/root/" + end + "/a").status())) << end;
    const std::string since = "/v1/root/" + kHex + "/7?since=" + end;
    EXPECT_TRUE(absl::IsInvalidArgument(Read(since).status())) << end;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Read("/v1/record/" + upper + "/7").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Read("/v1/record/" + kHex + "/.ktx2").status()));
}

TEST(DeviceTargetTest, OnlySessionsHaveOtherMethodsThanGetAndHead) {
  const DeviceTarget file = PresentTarget{"linux", "a"}, list = SessionsTarget{},
                     session = SessionTarget{"s1"};
  EXPECT_TRUE(HasMethod(file, HttpMethod::kGet) && HasMethod(file, HttpMethod::kHead));
  EXPECT_FALSE(HasMethod(file, HttpMethod::kPost) || HasMethod(file, HttpMethod::kDelete));
  EXPECT_TRUE(HasMethod(list, HttpMethod::kPost));
  EXPECT_FALSE(HasMethod(list, HttpMethod::kGet) || HasMethod(list, HttpMethod::kDelete));
  EXPECT_TRUE(HasMethod(session, HttpMethod::kDelete) && HasMethod(session, HttpMethod::kHead));
  EXPECT_FALSE(HasMethod(session, HttpMethod::kPost));
  EXPECT_EQ(MethodsOf(file), "GET, HEAD");
  EXPECT_EQ(MethodsOf(list), "POST");
  EXPECT_EQ(MethodsOf(session), "GET, HEAD, DELETE");
}

}  // namespace
}  // namespace galley::director
