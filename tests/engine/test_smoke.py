from tests.checker.benches import Tried

async def test_smoke(tried: Tried):
    a = await tried.send({"rows": 10, "stages": 2})
    b = await tried.send({"rows": 300, "inline": False, "barrier": 1, "stages": 2})
    c = await tried.send({"rows": 0})
    d = await tried.send({"rows": 5, "barrier": 0})
    e = await tried.send({"rows": 5}, pipeline="whole")
    f = await tried.send({"rows": 50, "groups":3})
    await tried.work()
    for j in (a,b,c,d,e,f):
        job = await tried.job(j)
        print(job["state"], job["total"], job["done"], job["context"])
    await tried.is_clean()
