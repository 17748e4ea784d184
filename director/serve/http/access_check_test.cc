#include "director/serve/http/access_check.h"

#include "common/base/digest.h"
#include "director/serve/http/testing/request_from_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::Contains;

// The status of the refusal of a GET with these fields; 0: none.
int StatusOf(const std::string& fields, const AccessRules& rules) {
  const auto refusal = CheckAccess(RequestFromText("GET /a HTTP/1.1\n" + fields), rules);
  return refusal ? refusal->status : 0;
}

const AccessRules kOpen{.allowed_hosts = {{.name = "localhost"}, {.name = "cook.studio"}}};
const AccessRules kGuarded{.token_sha256 = std::string(Digest::Of("secret").hash()),
                           .allowed_hosts = {{.name = "localhost"}}};

TEST(AccessCheckTest, ARequestOfAProgramIsAnswered) { EXPECT_EQ(StatusOf("", kOpen), 0); }

TEST(AccessCheckTest, APageOfAnAllowedHostMayAsk) {
  EXPECT_EQ(StatusOf("Origin: http://localhost:3000\n", kOpen), 0);
  EXPECT_EQ(StatusOf("Origin: https://cook.studio\nSec-Fetch-Site: same-origin\n", kOpen), 0);
}

TEST(AccessCheckTest, APageOfAnotherSiteMayNot) {
  EXPECT_EQ(StatusOf("Origin: http://evil.example\n", kOpen), 403);
  EXPECT_EQ(StatusOf("Origin: http://localhost.evil.example\n", kOpen), 403);
  EXPECT_EQ(StatusOf("Origin: null\n", kOpen), 403);
  EXPECT_EQ(StatusOf("Origin: file://localhost\n", kOpen), 403);
  EXPECT_EQ(StatusOf("Origin: http://localhost\nOrigin: http://localhost\n", kOpen), 403);
  EXPECT_EQ(StatusOf("Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\n", kOpen), 403);
}

TEST(AccessCheckTest, APersonMayFollowALinkOfAnotherSite) {
  const std::string navigation = "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\n";
  EXPECT_EQ(StatusOf(navigation + "Sec-Fetch-Dest: document\nSec-Fetch-User: ?1\n", kOpen), 0);
  EXPECT_EQ(StatusOf(navigation + "Sec-Fetch-Dest: document\n", kOpen), 403) << "a script did it";
  EXPECT_EQ(StatusOf(navigation + "Sec-Fetch-Dest: iframe\nSec-Fetch-User: ?1\n", kOpen), 403);
  EXPECT_EQ(StatusOf(navigation, kOpen), 403);
}

TEST(AccessCheckTest, TheTokenIsWanted) {
  EXPECT_EQ(StatusOf("Authorization: Bearer secret\n", kGuarded), 0);
  EXPECT_EQ(StatusOf("Authorization: bearer  secret\n", kGuarded), 0);
  EXPECT_EQ(StatusOf("", kGuarded), 401);
  EXPECT_EQ(StatusOf("Authorization: Bearer secret2\n", kGuarded), 401);
  EXPECT_EQ(StatusOf("Authorization: Basic secret\n", kGuarded), 401);
  EXPECT_EQ(StatusOf("Authorization: Bearer secret\nAuthorization: Bearer secret\n", kGuarded),
            401);
}

TEST(AccessCheckTest, ARefusalForWantOfTheTokenSaysWhichSchemeIsWanted) {
  const auto refusal = CheckAccess(RequestFromText("GET /a HTTP/1.1\n"), kGuarded);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->fields, Contains(HttpField{"WWW-Authenticate", "Bearer"}));
}

}  // namespace
}  // namespace galley::director
