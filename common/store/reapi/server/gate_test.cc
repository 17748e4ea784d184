#include "common/store/reapi/server/gate.h"

#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/hex.h"
#include "common/listen/listen_address.h"
#include "common/store/reapi/server/listeners.h"
#include "common/store/reapi/server/methods.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "common/wire/tls_pair.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string HashOf(std::string_view token) { return HexEncode(Digest::Of(token).hash()); }

const std::string kFour =
    "[[identity]]\nname = \"dev\"\nrole = \"reader\"\ntoken_sha256 = \"" + HashOf("d") +
    "\"\n"
    "[[identity]]\nname = \"farm\"\nrole = \"writer\"\ncertificate = \"spiffe://farm/w\"\n"
    "[[identity]]\nname = \"ci\"\nrole = \"writer\"\nwrite_results = true\ntoken_sha256 = \"" +
    HashOf("c") +
    "\"\ncertificate = \"ci.example\"\ninstances = [\"main\", \"\"]\ntrust = [\"main\"]\n"
    "[[identity]]\nname = \"boss\"\nrole = \"admin\"\ntoken_sha256 = \"" +
    HashOf("b") + "\"\n";

TEST(GateTest, IdentitiesAreAsTheFileSays) {
  const auto identities = ParseIdentities(kFour, "ids.toml");
  ASSERT_TRUE(identities.ok()) << identities.status();
  ASSERT_EQ(identities->size(), 4u);
  const Identity& dev = (*identities)[0];
  EXPECT_EQ(dev.name, "dev");
  EXPECT_EQ(dev.role, Role::kReader);
  EXPECT_EQ(dev.token_sha256, Digest::Of("d").hash());
  EXPECT_FALSE(dev.may_write_results);
  const Identity& ci = (*identities)[2];
  EXPECT_EQ(ci.certificate, "ci.example");
  EXPECT_TRUE(ci.may_write_results);
  EXPECT_THAT(ci.instances, ElementsAre("main", ""));
  EXPECT_THAT(ci.trust, ElementsAre("main"));
  EXPECT_FALSE((*identities)[1].may_write_results);  // a right of its own
  EXPECT_TRUE((*identities)[3].may_write_results);
}

TEST(GateTest, AFileThatIsWrongIsRefusedWithItsLine) {
  const std::string head = "[[identity]]\nname = \"a\"\n";
  const std::string token = "token_sha256 = \"" + HashOf("t") + "\"\n",
                    role = "role = \"writer\"\n";
  const std::pair<std::string, std::string> files[] = {
      {"", "expected [[identity]]"},
      {"identity = []\n", "expected [[identity]]"},
      {"identity = 7\n", "expected [[identity]]"},
      {"[[identty]]\n", "did you mean `identity`"},
      {head + token, "role"},
      {head + role, "token_sha256 or certificate"},
      {head + token + "role = \"owner\"\n", "reader, writer or admin"},
      {head + role + "token_sha256 = \"secret\"\n", "64 lower-case hex digits"},
      {head + role + "token_sha256 = \"ab\"\n", "64 lower-case hex digits"},
      {head + token + role + "writes = true\n", "unknown key `writes`"},
      {head + token + role + "write_results = \"yes\"\n", "write_results"},
      {head + token + "role = \"reader\"\nwrite_results = true\n", "a reader writes nothing"},
      {head + token + role + "instances = [\"a//b\"]\n", "empty segment"},
      {head + token + role + head + role + "certificate = \"c\"\n", "its name is another"},
      {head + token + role + "[[identity]]\nname = \"b\"\n" + role + token, "its token is another"},
      {"name = 3", "unknown key `name`"},
  };
  for (const auto& [file, expected] : files) {
    const absl::Status status = ParseIdentities(file, "ids.toml").status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << file << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected)) << file;
    EXPECT_THAT(std::string(status.message()), HasSubstr("ids.toml")) << file;
  }
}

TEST(GateTest, AFileThatOthersMayReadIsRefused) {
  const TemporaryFolder folder;
  const std::string file = folder.In("ids.toml");
  ASSERT_TRUE(WriteFileAtomic(file, kFour).ok());
  for (const mode_t mode : {0644, 0640, 0620, 0604}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_TRUE(absl::IsPermissionDenied(ReadIdentities(file).status())) << mode;
  }
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(ReadIdentities(file)->size(), 4u);
  EXPECT_FALSE(ReadIdentities(folder.In("absent")).ok());
}

TEST(GateTest, WithoutIdentitiesEverybodyMayEverything) {
  const Gate gate({});
  for (const Right right : {Right::kNone, Right::kRead, Right::kWrite, Right::kWriteResults}) {
    const auto caller = gate.Admit({.authorization = "Bearer x", .peer = "p"}, right);
    ASSERT_TRUE(caller.ok());
    EXPECT_EQ(caller->name, "");
    EXPECT_EQ(caller->peer, "p");
    EXPECT_TRUE(caller->may_write_results);
  }
}

TEST(GateTest, CredentialsNameOneIdentityOrNone) {
  const Gate gate(*ParseIdentities(kFour, "ids.toml"));
  const auto name_of = [&](const Credentials& credentials) {
    const auto caller = gate.Admit(credentials, Right::kRead);
    return caller.ok() ? caller->name
                       : std::string(absl::StatusCodeToString(caller.status().code()));
  };
  EXPECT_EQ(name_of({.authorization = "Bearer d"}), "dev");
  EXPECT_EQ(name_of({.certificate_names = {"x", "spiffe://farm/w"}}), "farm");
  EXPECT_EQ(name_of({.certificate_names = {"ci.example"}}), "ci");
  // The token that a caller shows says who the caller is.
  EXPECT_EQ(name_of({.authorization = "Bearer d", .certificate_names = {"ci.example"}}), "dev");
  for (const char* header :
       {"Bearer ", "Bearer x", "bearer d", "Basic d", "d", "", "Bearer d ", "Bearer  d"})
    EXPECT_EQ(name_of({.authorization = header, .certificate_names = {"ci.example"}}),
              "UNAUTHENTICATED")
        << header;
  EXPECT_EQ(name_of({}), "UNAUTHENTICATED");
  EXPECT_EQ(name_of({.certificate_names = {"", "CI.example", "ci.example2"}}), "UNAUTHENTICATED");
  const auto ci = gate.Admit({.authorization = "Bearer c"}, Right::kWriteResults);
  ASSERT_TRUE(ci.ok());
  EXPECT_THAT(ci->instances, ElementsAre("main", ""));
  EXPECT_THAT(ci->trust, ElementsAre("main"));
}

// Every method and every role: 0 is allowed, P is denied, U must say who it is.
TEST(GateTest, EachMethodHasItsRight) {
  const std::map<std::string, std::string> expected = {
      // nobody, reader, writer, writer of results, admin
      {"/build.bazel.remote.execution.v2.ActionCache/GetActionResult", "U0000"},
      {"/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult", "UPP00"},
      {"/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "U0000"},
      {"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs", "U0000"},
      {"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs", "UP000"},
      {"/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs", "U0000"},
      {"/build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree", "U0000"},
      {"/google.bytestream.ByteStream/QueryWriteStatus", "UP000"},
      {"/google.bytestream.ByteStream/Read", "U0000"},
      {"/google.bytestream.ByteStream/Write", "UP000"},
      {"/grpc.health.v1.Health/Check", "00000"},
      {"/grpc.health.v1.Health/Watch", "U0000"},
      {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "U0000"},
  };
  const Gate gate(*ParseIdentities(kFour, "ids.toml"));
  const Credentials callers[] = {{},
                                 {.authorization = "Bearer d"},
                                 {.certificate_names = {"spiffe://farm/w"}},
                                 {.authorization = "Bearer c"},
                                 {.authorization = "Bearer b"}};
  MemoryStore store;
  SystemClock clock;
  Uploads uploads(store, ReapiOptions{}, clock, Uploads::Options{});
  std::map<std::string, std::string> seen;
  for (const auto& [name, method] : ReapiMethods(store, ReapiOptions{}, uploads)) {
    for (const Credentials& caller : callers) {
      const absl::Status status = gate.Admit(caller, method.right).status();
      seen[name] += status.ok()                        ? '0'
                    : absl::IsPermissionDenied(status) ? 'P'
                    : absl::IsUnauthenticated(status)  ? 'U'
                                                       : '?';
    }
    EXPECT_LE(method.limits.whole_max, absl::Hours(1)) << name;
    EXPECT_NE(method.make(Caller{}), nullptr) << name;
  }
  EXPECT_EQ(seen, expected);
}

TEST(ListenersTest, OtherAddressesThanLoopbackNeedTlsAndIdentities) {
  for (const char* address : {"127.0.0.1:0", "127.1.2.3:80", "localhost:8980", "[::1]:8980",
                              "unix:/tmp/s", "unix:relative"}) {
    EXPECT_TRUE(listen::IsLocalAddress(address)) << address;
    EXPECT_TRUE(CheckListener(address, false, false).ok()) << address;
  }
  for (const char* address : {"0.0.0.0:8980", "[::]:8980", "10.0.0.1:80", "cas.farm:8980",
                              "127.0.0.1.evil.com:80", "127.evil:80", "127.0.0.256:80",
                              "127.0.0:80", "localhost.evil:80", "[::ffff:10.0.0.1]:80"}) {
    EXPECT_FALSE(listen::IsLocalAddress(address)) << address;
    EXPECT_TRUE(absl::IsFailedPrecondition(CheckListener(address, false, true))) << address;
    EXPECT_TRUE(absl::IsFailedPrecondition(CheckListener(address, true, false))) << address;
    EXPECT_TRUE(CheckListener(address, true, true).ok()) << address;
  }
  for (const char* address : {"", "8980", ":8980", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http",
                              "127.0.0.1:65536", "::1:80", "127.0.0.1:-1", "127.0.0.1:80x"})
    EXPECT_TRUE(absl::IsInvalidArgument(CheckListener(address, true, true))) << address;
}

TEST(ListenersTest, TlsIsACertificateAndItsKey) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    const std::string command = fmt::format(
        "cd {} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-days 2 -subj /CN={} -keyout {}.key -out {}.pem 2>/dev/null",
        folder.path(), name, name, name);
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  const std::string a = folder.In("a.pem"), a_key = folder.In("a.key"), b = folder.In("b.pem"),
                    b_key = folder.In("b.key");
  EXPECT_TRUE(wire::ReadTlsFiles({.certificate = a, .key = a_key}).ok());
  EXPECT_TRUE(wire::ReadTlsFiles({.certificate = a, .key = a_key, .ca = b}).ok());
  for (const wire::TlsFiles& files :
       {wire::TlsFiles{.certificate = a}, wire::TlsFiles{.key = a_key},
        wire::TlsFiles{.certificate = a, .key = b_key}, wire::TlsFiles{.certificate = a, .key = a},
        wire::TlsFiles{.certificate = a_key, .key = a_key},
        wire::TlsFiles{.certificate = a, .key = a_key, .ca = b_key}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(wire::ReadTlsFiles(files).status()))
        << files.certificate << " " << files.key << " " << files.ca;
  }
  EXPECT_TRUE(
      absl::IsNotFound(wire::ReadTlsFiles({.certificate = folder.In("c"), .key = a_key}).status()));
}

TEST(IdentitiesFileTest, SaysWhenItHoldsOthers) {
  const TemporaryFolder folder;
  const std::string path = folder.In("identities.toml");
  const auto write = [&](const std::string& name) {
    ASSERT_TRUE(WriteFileAtomic(path, "[[identity]]\nname = \"" + name +
                                          "\"\nrole = \"reader\"\ncertificate = \"c\"\n")
                    .ok());
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  };
  write("one");
  IdentitiesFile file(path);
  EXPECT_EQ((**file.Changed())[0].name, "one");
  EXPECT_FALSE(file.Changed()->has_value());
  write("two");  // of equal size
  EXPECT_EQ((**file.Changed())[0].name, "two");
  ASSERT_TRUE(WriteFileAtomic(path, "no TOML").ok());
  EXPECT_FALSE(file.Changed().ok());
  EXPECT_TRUE(file.Changed().ok()) << "it is said once";
  ::unlink(path.c_str());
  EXPECT_FALSE(file.Changed().ok());
  write("one");
  EXPECT_EQ((**file.Changed())[0].name, "one");
  EXPECT_FALSE(IdentitiesFile("").Changed()->has_value());
}

}  // namespace
}  // namespace galley::store
