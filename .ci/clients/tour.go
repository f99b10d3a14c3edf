// What a program does with the client that oapi-codegen makes: each step ends the tour where it does not hold.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/google/uuid"

	"tour/scopegate"
)

func expect(step string, found, expected any) {
	if found != expected {
		fmt.Printf("%s: %v is not %v\n", step, found, expected)
		os.Exit(1)
	}
}

// must ends the tour where a call got no answer, and held where it got another than it should.
func must[T any](answer T, err error) T {
	expect("call", err, nil)
	return answer
}

func held[T any](step string, answer *T, body []byte) T {
	if answer == nil {
		expect(step, string(body), "what the document says")
	}
	return *answer
}

func main() {
	authorise := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SCOPEGATE_KEY"))
		return nil
	}
	ctx := context.Background()
	client := must(scopegate.NewClientWithResponses(
		os.Getenv("SCOPEGATE_URL")+"/api/v1", scopegate.WithRequestEditorFn(authorise)))

	me := must(client.GetMeWithResponse(ctx))
	expect("me", held("me", me.JSON200, me.Body).Organisation.Name, "Northwind Traders")

	words := "chai"
	products := must(client.ListProductsWithResponse(ctx, &scopegate.ListProductsParams{Q: &words}))
	expect("list", held("list", products.JSON200, products.Body).Data[0].Name, "Chai")

	// addresses and contacts, null and not
	most, one := 100, 1
	customers := must(client.ListCustomersWithResponse(ctx, &scopegate.ListCustomersParams{Limit: &most}))
	expect("list all", len(held("list all", customers.JSON200, customers.Body).Data), 91)

	status := []scopegate.OrderStatus{"completed"}
	orders := must(client.ListOrdersWithResponse(ctx, &scopegate.ListOrdersParams{Status: &status, Limit: &one}))
	row := held("list orders", orders.JSON200, orders.Body).Data[0]
	found := must(client.GetOrderWithResponse(ctx, row.Id, nil))
	order := held("get", found.JSON200, found.Body)
	expect("get", order.Number, row.Number)
	expect("lines", order.Lines[0].Position, 0)

	sku, name, other := "CLIENT-GO", "Made", "No sku"
	bulk := must(client.UpsertProductsWithResponse(ctx, nil, scopegate.UpsertProductsJSONRequestBody{
		Products: []scopegate.ProductUpsert{{Sku: &sku, Name: &name}, {Name: &other}},
	}))
	report := held("bulk", bulk.JSON200, bulk.Body)
	expect("bulk", [2]int{report.Created, report.Failed}, [2]int{1, 1})
	expect("bulk fault", report.Results[1].Errors[0].Code, "required")

	opened := must(client.OpenRequestWithResponse(ctx, nil, scopegate.OpenRequestJSONRequestBody{Text: "Hello"}))
	expect("write", string(held("write", opened.JSON201, opened.Body).Status), "open")

	nobody := uuid.MustParse("00000000-0000-4000-8000-000000000000")
	missing := must(client.GetOrderWithResponse(ctx, nobody, nil))
	problem := held("problem", missing.ApplicationproblemJSON404, missing.Body)
	expect("problem", problem.Code, "not_found")

	fmt.Println("oapi-codegen: list, get, bulk, write, problem")
}
