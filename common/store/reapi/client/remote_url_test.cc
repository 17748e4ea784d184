#include "common/store/reapi/client/remote_url.h"

#include "common/base/status_macros.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RemoteUrlTest, ReadsItsThreeForms) {
  const auto plain = ParseRemoteUrl("grpc://cas.farm:9092/");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->text, "grpc://cas.farm:9092");
  EXPECT_EQ(plain->target, "dns:///cas.farm:9092");
  EXPECT_FALSE(plain->is_tls);
  EXPECT_FALSE(plain->is_local);

  const auto tls = ParseRemoteUrl("grpcs://[2001:db8::1]");
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_EQ(tls->target, "dns:///[2001:db8::1]:443");
  EXPECT_TRUE(tls->is_tls);
  EXPECT_FALSE(tls->is_local);

  const auto socket = ParseRemoteUrl("unix:/run/cas.sock");
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ(socket->target, "unix:/run/cas.sock");
  EXPECT_TRUE(socket->is_local);
}

TEST(RemoteUrlTest, KnowsWhatStaysOnThisMachine) {
  for (const char* text :
       {"grpc://localhost", "grpc://127.0.0.1:1", "grpc://127.9.9.9", "grpcs://[::1]:65535"})
    EXPECT_TRUE(ParseRemoteUrl(text)->is_local) << text;
  for (const char* text : {"grpc://127.example.com", "grpc://localhost.farm", "grpc://10.0.0.1"})
    EXPECT_FALSE(ParseRemoteUrl(text)->is_local) << text;
}

TEST(RemoteUrlTest, RefusesTheRest) {
  for (const char* text : {"",
                           "cas.farm:8980",
                           "grpc:/x",
                           "grpc://",
                           "grpc://:1",
                           "grpc://a b",
                           "grpc://a:",
                           "grpc://a:0",
                           "grpc://a:65536",
                           "grpc://a:x",
                           "grpc://[::1",
                           "grpc://[x::1]",
                           "grpc://a/team",
                           "grpc://a?x",
                           "http://a",
                           "https://a:1",
                           "s3://a",
                           "unix:relative",
                           "unix:",
                           "dns:///a:1"}) {
    const absl::Status status = ParseRemoteUrl(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(MessageOf(status), HasSubstr("expected grpc://host:port")) << text;
  }
  EXPECT_THAT(MessageOf(ParseRemoteUrl("http://a").status()), HasSubstr("not over plain HTTP"));
  EXPECT_THAT(MessageOf(ParseRemoteUrl("grpc://a/team").status()), HasSubstr("store.instance"));
}

TEST(RemoteUrlTest, RepeatsNoPassword) {
  for (const char* text : {"grpc://me:secret@a:1", "http://me:secret@a", "me:secret@a"}) {
    EXPECT_THAT(MessageOf(ParseRemoteUrl(text).status()), Not(HasSubstr("secret"))) << text;
  }
  EXPECT_THAT(MessageOf(ParseRemoteUrl("grpc://me:secret@a:1").status()),
              HasSubstr("store.credential_file"));
}

}  // namespace
}  // namespace galley::store
